// The fault table of confirm (section 4.2).
import * as table from '../../proof/stages/calls/scenarios/confirm.ts'
import { testCallFaults } from '../support/call-faults.ts'

testCallFaults(table)
