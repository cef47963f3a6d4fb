// What the schema makes impossible with the trail of the operators: a row that cannot be inserted, and the end of the name of
// what refuses it.
import type { Case } from './constraint-credit-cases.ts'
import { action, actionEnd, uuid } from './rows.ts'

export const operatorCases: Record<string, Case[]> = {
  operator_actions: [
    ['a second beginning of an action', 'pkey', action({ action_id: uuid(1) })],
    ['a step of its own', 'step', { action_id: uuid(9), step: 'UNDONE' }],
    ['an action of nobody', 'begun_says_what', action({ actor: null })],
    ['an action without its command', 'begun_says_what', action({ command: null })],
    ['an action without its arguments', 'begun_says_what', action({ arguments: null })],
    ['an end that names somebody else', 'begun_says_what', actionEnd({ actor: 'somebody else' })],
    ['an action that has ended when it begins', 'ended_says_how', action({ outcome: 'ok' })],
    ['an end without an outcome', 'ended_says_how', actionEnd({ outcome: null })],
    ['an end that does not say what about', 'ended_says_how', actionEnd({ about: null })],
  ],
}
