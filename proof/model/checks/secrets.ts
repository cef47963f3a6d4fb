// No log, answer or table has an API key, a service token, a secret of the gateway or of a consumer, a pepper, a
// webhook token, a session or a password.
import type { World } from '../../world/world.ts'
import type { Check } from './evidence.ts'

/** API keys, tokens of sibling services, signing secrets, sessions of operators. */
const issued = 'c(pk|st)_[0-9A-Za-z]{43}|whsec_[0-9A-Za-z+/]{43}|[0-9A-Za-z]{43}[.][0-9A-Za-z_-]{43}'

export async function checkSecrets(world: World): Promise<Check> {
  const logs = world.services.flatMap((each) => inText(world, each.readLog(), `the log of service ${each.name}`))
  // The history has the answers, and no headers of requests.
  const answers = inText(world, world.readHistory(), 'an answer')
  const violations = [...logs, ...answers, ...(await inBooks(world))]
  return { id: 'I-28', title: 'no secret in any log, answer or table', violations }
}

function inText({ secrets }: World, text: string, where: string): string[] {
  const keys = new Set(text.match(new RegExp(issued, 'g')))
  const found = Object.entries(secrets).filter(([, secret]) => text.includes(secret))
  return [
    ...[...keys].map((key) => `${where} has ${key.slice(0, 4)}…${key.slice(-4)}`),
    ...found.map(([what]) => `${where} has ${what}`),
  ]
}

async function inBooks({ books, secrets }: World): Promise<string[]> {
  const tables = await books.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  )
  const violations: string[] = []
  for (const { name } of tables) {
    const [row] = await books.query<{ rows: number }>(
      `select count(*)::int as rows from ${name} t
      where t::text ~ $1 or exists (select from unnest($2::text[]) as s (secret) where position(secret in t::text) > 0)`,
      [issued, Object.values(secrets)],
    )
    if (row && row.rows > 0) violations.push(`${row.rows} rows of ${name} have a secret`)
  }
  return violations
}
