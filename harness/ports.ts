// Ports that are not reused while the program that listened on them is down: below the range from which the system
// takes ports for outgoing connections and for port 0.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

const lowest = 12_000
const highest = 31_999
const attempts = 200

export async function takeFreePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  for (let attempt = 0; attempt < attempts && ports.size < count; attempt += 1) {
    const port = randomInt(lowest, highest)
    if (await isFree(port)) ports.add(port)
  }
  if (ports.size < count) throw new Error(`No ${count} free ports between ${lowest} and ${highest}.`)
  return [...ports]
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
