// The fault table of cancel (section 4.6).
import * as table from '../../proof/stages/calls/scenarios/cancel.ts'
import { testCallFaults } from '../support/call-faults.ts'

testCallFaults(table)
