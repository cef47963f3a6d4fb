// Who may do what: one table for the service, which enforces it, and for the page, which shows no button that would be
// refused. Everybody who is signed in may read.

export const roles = ['viewer', 'support', 'finance', 'admin'] as const
export type Role = (typeof roles)[number]

export const permissions = {
  read: ['viewer', 'support', 'finance', 'admin'],
  settle: ['support', 'finance', 'admin'],
  'resend events': ['support', 'finance', 'admin'],
  'manage customers': ['support', 'admin'],
  'suspend keys': ['support', 'finance', 'admin'],
  /** Everything that makes a key work: with a new API key, or one kept from before, a person can act as the customer. */
  'issue keys': ['admin'],
  /** Also reads payment keys in full: with one and an API key of the customer a payment can be cancelled. */
  refund: ['finance', 'admin'],
  reconcile: ['finance', 'admin'],
  'resolve discrepancies': ['finance', 'admin'],
  export: ['finance', 'admin'],
  'see operators': ['admin'],
} as const satisfies Record<string, readonly Role[]>

export type Permission = keyof typeof permissions

export function may(role: Role, permission: Permission): boolean {
  return (permissions[permission] as readonly Role[]).includes(role)
}
