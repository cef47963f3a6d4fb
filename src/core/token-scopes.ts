// What the token of a service may do on the internal API. Every route of it needs one scope, `config.scope` of the route;
// docs/spending.md has the table. A scope is never taken from a token or added to it: another token is issued.

export const tokenScopes = ['spend', 'hold', 'refund', 'read', 'manage-holds'] as const
export type TokenScope = (typeof tokenScopes)[number]

/** The scopes of a token that is issued without a choice: all that a service needs for its own work. */
export const defaultScopes: readonly TokenScope[] = ['spend', 'hold', 'refund', 'read']

/** Each once, in the order of the list above; undefined when that is no choice of scopes. */
export function readScopes(names: readonly string[]): TokenScope[] | undefined {
  const chosen = tokenScopes.filter((scope) => names.includes(scope))
  const isKnown = names.every((name) => (tokenScopes as readonly string[]).includes(name))
  // Alone it would open no route.
  const isComplete = !chosen.includes('manage-holds') || chosen.includes('hold')
  return chosen.length > 0 && isKnown && isComplete ? chosen : undefined
}

export const scopesRule = `one or more of ${tokenScopes.join(', ')}; manage-holds only with hold`
