// What a sabotage is: texts of the source that are replaced while it is loaded.

export type Change = {
  /** From the repository. */
  file: string
  /** Occurs there once. */
  from: string
  to: string
}

export type Sabotage = {
  /** What does not hold any more. */
  what: string
  changes: Change[]
  /** Why no simulation can find it, where that is so. */
  outside?: string
}
