// The fault table of the gateway's notifications.
import * as table from '../../proof/stages/calls/scenarios/notifications.ts'
import { testCallFaults } from '../support/call-faults.ts'

testCallFaults(table)
