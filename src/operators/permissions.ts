// The permissions of each role. The service enforces this table; the page uses it to hide buttons that would be refused. Every
// signed-in operator may read.

export const roles = ['viewer', 'support', 'finance', 'admin'] as const
export type Role = (typeof roles)[number]

export const permissions = {
  read: ['viewer', 'support', 'finance', 'admin'],
  settle: ['support', 'finance', 'admin'],
  'resend events': ['support', 'finance', 'admin'],
  /** On orders and customers. */
  'write notes': ['support', 'finance', 'admin'],
  'manage customers': ['support', 'admin'],
  'suspend keys': ['support', 'finance', 'admin'],
  /** Everything that makes a key usable: with a new or reactivated API key an operator could act as the customer. */
  'issue keys': ['admin'],
  /** Also shows payment keys in full: a payment key and an API key of the customer suffice to cancel a payment. */
  refund: ['finance', 'admin'],
  /** Goodwill and corrections, up to the limit of the role (ADJUSTMENT_LIMITS). */
  adjust: ['support', 'finance', 'admin'],
  'approve adjustments': ['finance', 'admin'],
  reconcile: ['finance', 'admin'],
  'resolve discrepancies': ['finance', 'admin'],
  export: ['finance', 'admin'],
  /** Where events are sent, and the secrets that sign them. */
  'manage endpoints': ['admin'],
  /** Tokens give access to the internal API, which spends the credits of every customer; also budgets of services. */
  'issue tokens': ['admin'],
  'see operators': ['admin'],
} as const satisfies Record<string, readonly Role[]>

export type Permission = keyof typeof permissions

export function may(role: Role, permission: Permission): boolean {
  return (permissions[permission] as readonly Role[]).includes(role)
}
