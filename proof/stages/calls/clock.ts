// Shortens pauses to a twentieth: between two attempts of a statement, between two reads of an operation, before a page
// is requested again. The results of the fault table do not depend on their length, and there are thousands of them. The
// import applies to the whole process.
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'

const pause = timers.setTimeout

timers.setTimeout = (ms, value, options) => pause((ms ?? 0) / 20, value, options)
syncBuiltinESMExports()
