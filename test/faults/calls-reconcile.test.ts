// The fault table of reconciliation.
import * as table from '../../proof/stages/calls/scenarios/reconcile.ts'
import { testCallFaults } from '../support/call-faults.ts'

testCallFaults(table)
