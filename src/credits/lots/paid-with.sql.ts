import { type Sql, sql } from '../../db/sql.ts'

/** How an order was paid, from its approved confirm; null where it is not known. */
export const paidWithJson = (confirm: Sql) => sql`
  case when ${confirm}.paid_method is not null then json_build_object(
    'method', ${confirm}.paid_method, 'provider', ${confirm}.paid_provider, 'cardAmount', ${confirm}.card_amount,
    'walletAmount', ${confirm}.wallet_amount, 'pointsAmount', ${confirm}.points_amount) end`
