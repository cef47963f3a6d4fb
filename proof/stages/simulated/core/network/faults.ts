// The faults of the simulated network: which of them takes effect on a connection or on what is sent over it, and what waits
// for the end of one.
import type { Draws } from '../random.ts'
import type { Scheduler } from '../scheduler.ts'

/**
 * What a fault does to what a client sends. `refuse`: the connection is refused. `reset-before`: the request is lost and the
 * connection reset. `reset-after`: the request arrives, its answer is lost and the connection reset. `delay`, `delay-answer`:
 * the request or its answer takes longer, by up to `ms`. `double`: the request arrives a second time, up to `ms` later, over a
 * connection of its own. `hold`, `hold-answer`: nothing that the client sends, or nothing that it is sent, arrives until the
 * fault is removed; then everything does, in its order, although its sender may have given up long ago.
 */
export type FaultKind =
  | 'refuse'
  | 'reset-before'
  | 'reset-after'
  | 'delay'
  | 'delay-answer'
  | 'double'
  | 'hold'
  | 'hold-answer'

export type Fault = {
  kind: FaultKind
  /** The name of the process that connects, and of the one that listens; `database` is the database. Undefined: any. */
  from?: string
  to?: string
  /** How likely it is for each connection or request; 1 unless it says otherwise. */
  chance?: number
  /** How often it happens at most; not for those that hold back. */
  times?: number
  ms?: number
}

export type ActiveFault = Fault & { fired: number; remove(): void }

/** A fault has taken effect on what one process sends to another. */
export type OnEffect = (from: string, to: string, kind: string) => void

/** What a fault may take effect on, with the generator for its chance. */
export type Target = { from: string; to: string; draws: Draws }

export type Faults = ReturnType<typeof createFaults>

export function createFaults(scheduler: Scheduler, onEffect: OnEffect) {
  const active: ActiveFault[] = []
  const waiting: { fault: ActiveFault; release(): void }[] = []

  function remove(fault: ActiveFault): void {
    const index = active.indexOf(fault)
    if (index >= 0) active.splice(index, 1)
    const all = waiting.splice(0)
    waiting.push(...all.filter((each) => each.fault !== fault))
    for (const each of all) if (each.fault === fault) each.release()
  }

  return {
    add(fault: Fault): ActiveFault {
      const added: ActiveFault = { ...fault, fired: 0, remove: () => remove(added) }
      active.push(added)
      return added
    },
    /** The first that applies; its chance is drawn only then, so that a fault for others changes nothing here. */
    takeEffect(kinds: FaultKind[], { from, to, draws }: Target): ActiveFault | undefined {
      for (const fault of active) {
        if (!kinds.includes(fault.kind)) continue
        if ((fault.from ?? from) !== from || (fault.to ?? to) !== to) continue
        if (fault.chance !== undefined && !draws.chance(fault.chance)) continue
        fault.fired += 1
        onEffect(from, to, fault.kind)
        scheduler.note('network', `fault ${fault.kind} ${from}>${to}`)
        // What is held back waits for the fault to be removed.
        if (fault.fired === fault.times && !fault.kind.startsWith('hold')) remove(fault)
        return fault
      }
      return undefined
    },
    /** Runs when the fault is removed. */
    whenRemoved: (fault: ActiveFault, release: () => void) => void waiting.push({ fault, release }),
  }
}
