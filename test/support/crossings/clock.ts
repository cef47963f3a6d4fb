// Pauses in the process, a twentieth as long: between two tries of a statement, between two looks at an operation, before
// a page is asked for again. Nothing of what the fault table shows depends on their length, and there are thousands.
// Whoever imports this has it for the whole process.
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'

const pause = timers.setTimeout

timers.setTimeout = (ms, value, options) => pause((ms ?? 0) / 20, value, options)
syncBuiltinESMExports()
