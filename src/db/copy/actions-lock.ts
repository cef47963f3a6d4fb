// The advisory lock between actions of operators and backups: shared by every transaction that begins an action, alone for a
// backup that takes several snapshots. An action that is missing in a backup has done nothing in it.

/** Arbitrary; nothing else in this database uses it. */
export const actionsLock = 7_205_512
