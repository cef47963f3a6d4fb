// The fault table of changes without the gateway: purchase, spending, holds, expiry.
import * as table from '../../proof/stages/calls/scenarios/orders.ts'
import { testCallFaults } from '../support/call-faults.ts'

testCallFaults(table)
