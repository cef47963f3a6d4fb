// How much operators may adjust: by role and Korean day, and how much without a second person. A command counts as an admin.
import type { Role } from './permissions.ts'

export type AdjustmentSettings = {
  /** Credits in a Korean day. */
  limits: Record<Role, number>
  /** More credits than this need a second person. */
  approvalAbove: number
}

/** No adjustments by anyone. */
export const noLimits: Record<Role, number> = { viewer: 0, support: 0, finance: 0, admin: 0 }

const form = /^(support|finance|admin)=(\d{1,9})$/

/** From `support=20,finance=500,admin=2000`; a role that is left out adjusts nothing. Undefined: it cannot be read. */
export function readAdjustmentLimits(text: string): Record<Role, number> | undefined {
  const parts = text.split(',').map((part) => form.exec(part.trim()))
  const roles = parts.map((part) => part?.[1])
  if (parts.some((part) => part === null) || new Set(roles).size < roles.length) return undefined
  const limits = { ...noLimits }
  for (const part of parts) limits[part?.[1] as Role] = Number(part?.[2])
  return limits
}

/** For one operator. */
export function limitsOf({ limits, approvalAbove }: AdjustmentSettings, role: Role) {
  return { perDay: limits[role], approvalAbove }
}
