// The fault table of money that was captured for a FAILED order.
import * as table from '../../proof/stages/calls/scenarios/return.ts'
import { testCallFaults } from '../support/call-faults.ts'

testCallFaults(table)
