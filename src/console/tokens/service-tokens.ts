// The page of service tokens, and the budgets of services over all customers. Actions call the same functions as the commands. A
// token is shown once, in the answer that issues it.

import { refuse, refuseFields } from '../../core/errors.ts'
import { readScopes, scopesRule } from '../../core/token-scopes.ts'
import {
  faultOfBudget,
  findBudget,
  listBudgets,
  mostBudgets,
  removeBudget,
  setBudget,
} from '../../credits/budgets/budgets.sql.ts'
import { allCustomers } from '../../credits/budgets/kinds.ts'
import type { KeyStatus } from '../../customers/customers.sql.ts'
import { listTokens, updateTokenStatus } from '../../customers/service-tokens.sql.ts'
import { issueToken } from '../../customers/service-tokens.ts'
import type { ConsoleContext } from '../context.ts'
import { refuseBecause } from '../refusals.ts'
import type { Handlers } from '../routes.ts'

type Names =
  | ('services' | 'issueToken' | 'suspendToken' | 'activateToken')
  | ('serviceBudgets' | 'setServiceBudget' | 'removeServiceBudget')

const maxTokensListed = 1_000

export function serviceHandlers({ database, peppers }: ConsoleContext): Handlers<Names> {
  /** What is used of one is a single row; on a cluster customers are on several servers. */
  const isPossible = !database.groups

  async function setStatus(serviceId: string, status: KeyStatus) {
    if (!(await updateTokenStatus(database, serviceId, status))) {
      throw refuse('NOT000', { message: 'There is no such token.' })
    }
    return { serviceId, status }
  }

  return {
    async services() {
      const tokens = await listTokens(database, maxTokensListed)
      return { tokens: tokens.map(({ secretVersion: _, ...token }) => token) }
    },

    issueToken({ body }) {
      const scopes = readScopes(body.scopes)
      if (!scopes) throw refuseFields('VAL003', [{ field: 'scopes', rule: `must be ${scopesRule}` }])
      return issueToken(database, peppers, body.name.trim(), scopes)
    },
    suspendToken: ({ params }) => setStatus(params.serviceId, 'SUSPENDED'),
    activateToken: ({ params }) => setStatus(params.serviceId, 'ACTIVE'),

    async serviceBudgets() {
      return { budgets: await listBudgets(database, allCustomers), isPossible }
    },

    async setServiceBudget({ body: { value, period, credits, warnAt = null } }) {
      if (!isPossible) {
        throw refuseBecause('VAL003', 'needs one server', 'A budget over all customers needs one server.')
      }
      const scope = 'SERVICE' as const
      const setting = { customerId: allCustomers, scope, value: value.trim(), period, credits, warnAt }
      const fault = faultOfBudget(setting)
      if (fault) throw refuseFields('VAL003', [fault])
      const set = await setBudget(database, setting)
      if (!set) throw refuseBecause('VAL003', 'too many budgets', `There are ${mostBudgets} budgets already.`)
      return set
    },

    async removeServiceBudget({ params: { budgetId } }) {
      const budget = await findBudget(database, budgetId)
      if (budget?.customerId !== allCustomers) throw refuse('NOT000', { message: 'There is no such budget.' })
      await removeBudget(database, budgetId)
      return { budgetId: budgetId.toLowerCase() }
    },
  }
}
