// Everything that the steps of a run act with: the world, what its customers know, the operators, and what is recorded for
// the checks.

import { createExchanger, type Exchanger } from '../../../model/actions/exchange.ts'
import { newOutsideRecords, type OutsideRecords } from '../../../model/actions/outside-actions.ts'
import { createSiblings, type Siblings } from '../../../model/actions/siblings.ts'
import { createHistory, type History } from '../../../model/history.ts'
import { type ConsoleClient, createConsoleClient, type Operator } from '../../../model/operators/console-client.ts'
import { createOperators } from '../../../model/operators/sign-in.ts'
import type { Line } from '../../../report/edn.ts'
import { openPlatform, type Platform } from '../../../world/platform.ts'
import { type Customer, openShop, type Shop } from '../../../world/shop.ts'
import { createGatewayFaults, type GatewayFaults } from '../../processes/gateway-faults.ts'
import type { Simulation } from '../core/simulation.ts'
import { type SimulatedWorld, startSimulatedWorld } from '../world/world.ts'

export type Stage = {
  simulation: Simulation
  world: SimulatedWorld
  shop: Shop
  platform: Platform
  operators: Operator[]
  console: ConsoleClient
  history: History
  exchanger: Exchanger
  siblings: Siblings
  gatewayFaults: GatewayFaults
  outside: OutsideRecords
  /** Customers whose keys an operator is changing. */
  locked: Set<Customer>
  wrong: string[]
  /** Processes that did not end as they must. */
  endedWrongly: string[]
  counts: Map<string, number>
  count(name: string, times?: number): void
  /** Steps and faults under way: a quiet moment waits for them. */
  underWay: Set<Promise<void>>
  mayDrop(): boolean
  stopped: AbortSignal
  seed: number
}

/** Few, so that their requests meet. */
const customers = 5
const maxConnections = 400

/** In the process of the load. */
export async function openStage(simulation: Simulation, directory: string): Promise<Stage> {
  const { seed } = simulation
  const world = await startSimulatedWorld(simulation, directory, seed)
  const shop = await openShop(world, customers)
  await world.consumer.register(shop.database, world.peppers)
  const platform = await openPlatform(world, shop)
  const operators = await createOperators(world, shop)
  const history = createHistory({
    write(line) {
      world.lines.push(line as Line)
      simulation.note(JSON.stringify(line))
    },
    close: async () => undefined,
  })
  world.consumer.note = (event, fields) => history.note(event, fields)
  const exchanger = createExchanger(maxConnections)
  const stopped = new AbortController().signal
  const counts = new Map<string, number>()
  const mayDrop = () => true
  const common = { world, shop, history, exchanger, mayDrop, stopped }
  return {
    ...common,
    simulation,
    platform,
    operators,
    console: createConsoleClient(common),
    siblings: createSiblings(common),
    gatewayFaults: createGatewayFaults(world.gateway, seed, stopped),
    outside: newOutsideRecords(),
    locked: new Set(),
    wrong: [],
    endedWrongly: [],
    counts,
    count: (name, times = 1) => void counts.set(name, (counts.get(name) ?? 0) + times),
    underWay: new Set(),
    seed,
  }
}
