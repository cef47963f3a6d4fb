// What Node offers itself, taken before core/patches.ts replaces it: for the scheduler, which lives in real time,
// and for code that runs outside of every simulated process.
import crypto from 'node:crypto'
import dns from 'node:dns'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import timers from 'node:timers'
import timersPromises from 'node:timers/promises'

export const real = {
  Date: globalThis.Date,
  performanceNow: performance.now.bind(performance),
  timeOrigin: performance.timeOrigin,
  hrtime: process.hrtime,
  mathRandom: Math.random,
  setTimeout: timers.setTimeout,
  clearTimeout: timers.clearTimeout,
  setInterval: timers.setInterval,
  clearInterval: timers.clearInterval,
  setImmediate: timers.setImmediate,
  clearImmediate: timers.clearImmediate,
  promises: { ...timersPromises },
  abortTimeout: AbortSignal.timeout.bind(AbortSignal),
  fetch: globalThis.fetch,
  crypto: { ...crypto },
  webRandomUUID: globalThis.crypto.randomUUID.bind(globalThis.crypto),
  webRandomValues: globalThis.crypto.getRandomValues.bind(globalThis.crypto),
  Socket: net.Socket,
  connect: net.connect,
  listen: net.Server.prototype.listen,
  agentConnection: (http.Agent.prototype as unknown as { createConnection: typeof net.createConnection })
    .createConnection,
  lookup: dns.lookup,
  files: { ...fs.promises },
}
