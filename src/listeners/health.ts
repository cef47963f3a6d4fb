// Liveness and readiness, for supervisors and load balancers: without authentication and without the envelope. With a read-only
// database, or one that does not confirm commits, the service is not ready: nothing can be bought or spent. The gateway's state is reported but not required: balance
// and status work without it.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { deadlineIn, within } from '../core/clock.ts'
import type { Standbys } from '../db/connect.ts'
import type { Database } from '../db/database.ts'
import { listMigrations, missingMigrations } from '../db/migrate.ts'
import { createWriteHealth } from '../db/write-health.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Documented } from '../http/documented.ts'
import { NullableText } from '../http/envelope.ts'

export type HealthParts = {
  database: Database
  gateway: Gateway
  money?: string
  logState?: string
  standbys?: Standbys
}

const Alive = Type.Object({ status: Type.Literal('alive') }, { title: 'Alive' })
const Readiness = Type.Object(
  {
    status: Type.Enum(['ready', 'not ready']),
    database: Type.Enum(['answering', 'not answering']),
    writes: Type.String({ description: '`accepted`, or why none are, or `not known`' }),
    migrations: Type.String({ description: '`applied`, or which are missing, or `not known`' }),
    gateway: Type.Object({
      state: Type.Enum(['untried', 'answering', 'failing', 'refusing our credentials'], {
        description: 'what the last call to the gateway has shown; it does not decide over the status',
      }),
      since: NullableText,
    }),
    money: Type.String({ description: '`moves`, or why a payment moves none: the sandbox, or test keys' }),
    log: Type.String({
      description: '`signs`, or why the transparency log signs nothing: it was restored from a backup',
    }),
  },
  { title: 'Readiness' },
)

const gatewayAnswers = { state: 'answering', since: '2026-11-15T11:05:45.863Z' }
const documented = {
  livez: {
    operationId: 'getLiveness',
    tag: 'Operation',
    summary: 'Is the process alive?',
    description: 'Answers as long as the process can answer at all.',
    answers: { 200: { status: 'alive' } },
    refusals: [],
  },
  readyz: {
    operationId: 'getReadiness',
    tag: 'Operation',
    summary: 'Can the service serve?',
    description:
      'Ready when the database answers, confirms a commit and its schema is complete. The state of the gateway is included.',
    answers: {
      200: {
        status: 'ready',
        database: 'answering',
        writes: 'accepted',
        migrations: 'applied',
        gateway: gatewayAnswers,
        money: 'moves',
        log: 'signs',
      },
      503: {
        status: 'not ready',
        database: 'not answering',
        writes: 'not known',
        migrations: 'not known',
        gateway: gatewayAnswers,
        money: 'moves',
        log: 'signs',
      },
    },
    refusals: [],
  },
} satisfies Record<string, Documented>

const limitMs = 4_000

export function healthRoutes(app: FastifyInstance, parts: HealthParts): void {
  const { database, gateway, money = 'moves', logState = 'signs', standbys = 'optional' } = parts
  const migrations = listMigrations()
  const findWriteFault = createWriteHealth(database, standbys)

  app.get(
    '/livez',
    { config: { open: true, documented: documented.livez }, schema: { response: { 200: Alive } } },
    async () => ({ status: 'alive' }),
  )

  app.get(
    '/readyz',
    {
      config: { open: true, documented: documented.readyz },
      schema: { response: { 200: Readiness, 503: Readiness } },
    },
    async (_request, reply) => {
      // A prober waits for seconds only.
      const deadline = deadlineIn(limitMs)
      const schema = await within(
        deadline,
        missingMigrations(database, migrations).then(schemaState, notKnown),
        notKnown(),
      )
      const writes = await within(
        deadline,
        findWriteFault().then((fault) => fault ?? 'accepted', notKnown),
        notKnown(),
      )
      const ready = schema === 'applied' && writes === 'accepted'
      return reply.code(ready ? 200 : 503).send({
        status: ready ? 'ready' : 'not ready',
        database: schema === 'not known' ? 'not answering' : 'answering',
        writes,
        migrations: schema,
        gateway: gateway.state(),
        money,
        log: logState,
      })
    },
  )
}

function schemaState(missing: string[]): string {
  return missing.length === 0 ? 'applied' : `missing: ${missing.join(', ')}`
}

function notKnown(): string {
  return 'not known'
}
