// The schemas of the page of service tokens, and of the budgets of services over all customers.
import Type from 'typebox'
import { namePattern } from '../../core/one-line.ts'
import { tokenScopes } from '../../core/token-scopes.ts'
import { BudgetListData, SetBudgetBody } from '../customers/contract.ts'
import { Flag, lineOf, Moment, ReasonText, Text, Whole } from '../schema-types.ts'

const TokenStatus = Type.Enum(['ACTIVE', 'SUSPENDED'])
const Scopes = Type.Array(Type.Enum([...tokenScopes]))
/** Newest first. */
export const ServicesData = Type.Object({
  tokens: Type.Array(
    Type.Object({
      serviceId: Text,
      name: Text,
      lastFour: Text,
      status: TokenStatus,
      scopes: Scopes,
      createdAt: Moment,
    }),
  ),
})
export const ServiceParams = Type.Object({ serviceId: Type.String({ description: 'the id of a service token' }) })
export const IssueTokenBody = Type.Object({
  name: Type.String({ pattern: namePattern.source, description: 'a name of 1 to 100 characters in one line' }),
  scopes: Scopes,
  reason: ReasonText,
})
/** The only answer that contains the token. */
export const IssuedTokenData = Type.Object({ serviceId: Text, name: Text, scopes: Scopes, token: Text })
export const TokenStatusData = Type.Object({ serviceId: Text, status: TokenStatus })

/** `isPossible`: not on a cluster. */
export const ServiceBudgetsData = Type.Object({ ...BudgetListData.properties, isPossible: Flag })
/** `value` is the name of the service. */
export const ServiceBudgetBody = Type.Object({
  value: lineOf(200, 'the name of a service'),
  period: SetBudgetBody.properties.period,
  credits: SetBudgetBody.properties.credits,
  warnAt: SetBudgetBody.properties.warnAt,
  reason: ReasonText,
})
export const ServiceBudgetData = Type.Object({ budgetId: Text, warnAt: Whole })
export const ServiceBudgetParams = Type.Object({ budgetId: Type.String({ description: 'the UUID of a budget' }) })
export const RemovedServiceBudgetData = Type.Object({ budgetId: Text })
