// The fault table of the platform's refund.
import * as table from '../../proof/stages/calls/scenarios/refund.ts'
import { testCallFaults } from '../support/call-faults.ts'

testCallFaults(table)
