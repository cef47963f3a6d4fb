// The rules of this codebase that a program can check, as tables. A failure names the place where the code belongs.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Tracked and new files, as git sees them. */
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const code = files.filter((file) =>
  /^(src|console|sandbox|examples|client|test|proof|bench|harness)\/.*\.tsx?$/.test(file),
)
const source = code.filter((file) => /^(src|console|sandbox|examples|client)\//.test(file))
const texts = files.filter((file) => /^(?!package-lock).*\.(tsx?|css|html|mjs|md|sql|json|npmrc)$|^\.ci\//.test(file))

/** Which folders of src a folder may import from, besides itself. */
const mayImport: Record<string, string[]> = {
  core: [],
  db: ['core'],
  gateway: ['core'],
  http: ['core'],
  events: ['core', 'db'],
  credits: ['core', 'db', 'http', 'events'],
  customers: ['core', 'db', 'credits', 'events'],
  transparency: ['core', 'db', 'http', 'credits', 'events'],
  payments: ['core', 'db', 'http', 'credits', 'events', 'gateway', 'transparency'],
  worker: ['core', 'db', 'credits', 'events', 'payments', 'operators', 'transparency'],
  telemetry: ['core', 'db', 'http', 'gateway', 'payments', 'transparency'],
  openapi: ['core', 'http', 'credits', 'events', 'payments', 'transparency'],
  operators: ['core', 'db'],
  commands: ['core', 'db', 'customers', 'credits', 'events', 'payments', 'operators', 'transparency'],
  console: ['core', 'db', 'http', 'customers', 'credits', 'events', 'gateway', 'payments', 'operators', 'transparency'],
}

/** The only file of another program that src may import: `credits verify` is the verifier that customers have. */
const shippedVerifier = 'client/src/verify/files.ts'

/** The composition roots, which may import every part. */
const composition = /^src\/([^/]+|(listeners|dev)\/[^/]+|commands\/run-command)\.ts$/

/** Features import each other only through the files that implement their verbs. Worker and commands may import all. */
const features = ['customers', 'credits', 'events', 'payments']
const entryFiles: Record<string, string[]> = {
  credits: [
    'src/credits/ledger.sql.ts',
    'src/credits/movements.ts',
    'src/credits/accounts.sql.ts',
    'src/credits/credits.ts',
    'src/credits/lots/lots.sql.ts',
    'src/credits/lots/paid-with.ts',
    'src/credits/lots/price.ts',
    // The audit computes what an accepted part has left of its order.
    'src/credits/lots/liability.sql.ts',
    // Accepting a part may need a second person, as an adjustment does.
    'src/credits/adjustments/adjust.sql.ts',
    'src/credits/adjustments/adjust.ts',
  ],
  events: ['src/events/outbox.sql.ts'],
  gateway: ['src/gateway/gateway.ts'],
}

/** The files that may write each table. */
const writers: Record<string, string[]> = {
  customers: ['src/customers/customers.sql.ts'],
  api_keys: ['src/customers/customers.sql.ts'],
  service_tokens: ['src/customers/service-tokens.sql.ts'],
  accounts: [
    'src/credits/ledger.sql.ts',
    'src/credits/accounts.sql.ts',
    'src/events/purge-events.sql.ts',
    'src/transparency/publication/checkpoints.sql.ts',
  ],
  budgets: ['src/credits/budgets/budgets.sql.ts'],
  budget_usage: ['src/credits/budgets/usage.sql.ts'],
  ledger_entries: ['src/credits/ledger.sql.ts'],
  holds: [
    'src/credits/holds/holds.sql.ts',
    'src/credits/holds/foreign-capture.sql.ts',
    'src/credits/budgets/restricted.sql.ts',
  ],
  events: ['src/events/outbox.sql.ts', 'src/events/purge-events.sql.ts'],
  event_endpoints: ['src/events/endpoints.sql.ts'],
  event_queues: ['src/events/outbox.sql.ts', 'src/events/queues.sql.ts', 'src/events/purge-events.sql.ts'],
  dead_events: ['src/events/queues.sql.ts', 'src/events/dead.sql.ts'],
  event_attempts: ['src/events/attempts/attempts.sql.ts'],
  orders: [
    'src/payments/orders.sql.ts',
    'src/payments/operations/finish.sql.ts',
    'src/payments/recovery/expire.sql.ts',
  ],
  payment_operations: [
    'src/payments/operations/begin.sql.ts',
    'src/payments/operations/lease.sql.ts',
    'src/payments/operations/finish.sql.ts',
    'src/payments/recovery/expire.sql.ts',
    'src/payments/refunds/accept.sql.ts',
  ],
  discrepancies: ['src/payments/recovery/discrepancies.sql.ts'],
  webhook_notifications: ['src/payments/recovery/notifications.sql.ts'],
  gateway_movements: ['src/payments/books/reconcile.sql.ts'],
  reconciliations: ['src/payments/books/reconcile.sql.ts'],
  audits: ['src/payments/audit/record.sql.ts'],
  daily_audits: ['src/payments/audit/record.sql.ts'],
  schema_migrations: ['src/db/migrate.ts'],
  operator_actions: ['src/operators/action-log.sql.ts'],
  open_actions: ['src/operators/action-log.sql.ts'],
  operators: ['src/operators/operators.sql.ts'],
  operator_sessions: ['src/operators/operators.sql.ts', 'src/console/session/session.sql.ts'],
  sign_in_failures: ['src/console/session/session.sql.ts'],
  payment_attempts: ['src/payments/operations/lease.sql.ts'],
  cancel_keys: ['src/payments/operations/begin.sql.ts'],
  use_labels: ['src/credits/use/details.sql.ts'],
  use_details: ['src/credits/use/details.sql.ts'],
  adjustments: ['src/credits/adjustments/adjustments.sql.ts'],
  adjustment_requests: ['src/credits/adjustments/adjust.sql.ts', 'src/payments/refunds/accept.sql.ts'],
  adjustment_days: ['src/credits/adjustments/adjust.sql.ts'],
  hourly_figures: ['src/payments/books/figures.sql.ts'],
  figures_reached: ['src/payments/books/figures.sql.ts'],
  customer_figures: ['src/payments/books/figures.sql.ts'],
  refund_rules: ['src/payments/refunds/dated-rules.sql.ts'],
  sweeping_processes: ['src/db/cluster/share.ts'],
  log_head: ['src/transparency/append.sql.ts'],
  log_runs: ['src/transparency/append.sql.ts'],
  log_tiles: ['src/transparency/append.sql.ts'],
  log_checkpoints: ['src/transparency/publication/checkpoints.sql.ts'],
  log_cosignatures: ['src/transparency/publication/checkpoints.sql.ts'],
  log_restores: ['src/transparency/restored/mark.sql.ts'],
  // Written by triggers.
  record_journal: [],
  record_journal_head: [],
}

/** Jitter for pauses; predicting it gains an attacker nothing. */
const jittering = ['src/core/backoff.ts', 'client/src/send.ts']

/** The one that installs programs, and the one that refuses it to tests. */
const namesInstallers = ['harness/debian.ts', 'test/support/refused-programs.ts']

/** Patterns that these files may not contain, and the alternative. */
const banned: { files: string[]; pattern: RegExp; instead: string }[] = [
  {
    files: source.filter((file) => !['src/config.ts', 'sandbox/main.ts', 'console/build.ts'].includes(file)),
    pattern: /process\.env\b/,
    instead: 'src/config.ts reads settings',
  },
  {
    files: source.filter((file) => !/^src\/(db\/|payments\/audit\/audit\.sql\.ts$)/.test(file)),
    pattern: /\bas Sql\b|\.query(?:<[^()]*>)?\(\s*`[^`]*\$\{/,
    instead: 'compose it with `sql`: values are parameters',
  },
  { files: code, pattern: /^export default|^export \* from/m, instead: 'export by name from the file that has it' },
  { files: code, pattern: /\b(TODO|FIXME|XXX|HACK)\b/, instead: 'finish it' },
  { files: code, pattern: /(\/\/|\/\*\*| \*) Of /, instead: 'begin the comment with the noun it is about' },

  {
    files: files.filter(
      (file) => /\.(tsx?|mjs)$|^(package\.json|\.ci\/.*)$/.test(file) && !namesInstallers.includes(file),
    ),
    pattern: /\b(apt|dpkg)\b/,
    instead: 'harness/debian.ts installs programs, for a command with --install',
  },
  { files: code, pattern: /\b(test|describe|it)\.(only|todo)\(/, instead: 'run all tests' },
  {
    files: source.filter((file) => !jittering.includes(file)),
    pattern: /Math\.random\b/,
    instead: 'core/ids.ts for anything that must not be guessed',
  },
  {
    files: source,
    pattern: /\bnew Date\([^)]*\)\.get(Hours|Date|Day|Month|FullYear)\(/,
    instead: 'times are UTC, in ISO 8601',
  },
  {
    files: files.filter((file) => /\.(tsx?|mjs)$|^package\.json$/.test(file)),
    pattern: /insecure-?http-?parser/i,
    instead: 'requests are parsed strictly: two parsers must not read one text as two different requests',
  },
  {
    files: source,
    pattern: /\b(statement\.\w+|query)\(\s*(?:'[^']*',\s*)?(['`])(?:(?!\2).)*\2\s*\+/s,
    instead: 'one text; values are parameters',
  },
  {
    files: source.filter((file) => !['src/db/connect.ts', 'src/db/database.ts'].includes(file)),
    pattern: /\bnew pg\.(Client|Pool)\(/,
    instead: 'Client of src/db/connect.ts, which listens for errors as long as it lives, or createPool',
  },
  { files: source, pattern: /[:<] ?any\b(?= ?[;,)>=[]|$)|\bas any\b|@ts-(ignore|expect-error)/m, instead: 'a type' },
]

type Import = { from: string; to: string }

const imports: Import[] = code.flatMap((file) =>
  [...read(file).matchAll(/(?:from|import\()\s*'(\.{1,2}\/[^']+)'/g)].map(([, path = '']) => ({
    from: file,
    to: normalize(join(dirname(file), path)),
  })),
)

function folderOf(file: string): string | undefined {
  return /^src\/([a-z]+)\//.exec(file)?.[1]
}

function breaches(found: string[]): void {
  assert.deepEqual(found, [])
}

test('folders of src import only what the table allows', () => {
  const foldersOfSource = new Set(source.map(folderOf).filter((folder) => folder !== undefined))
  assert.deepEqual([...foldersOfSource].sort(), [...Object.keys(mayImport), 'dev', 'listeners'].sort())
  breaches(
    imports.flatMap(({ from, to }) => {
      const [own, other] = [folderOf(from), folderOf(to)]
      if (!own || own === other || composition.test(from) || to === shippedVerifier) return []
      if (composition.test(to)) return [`${from} imports ${to}, a composition root`]
      return mayImport[own]?.includes(other ?? '')
        ? []
        : [`${from} imports ${to}: ${own} may import ${mayImport[own]?.join(', ')}`]
    }),
  )
})

test('no feature imports anything of a cluster: where rows are is known behind the database', () => {
  const others = ['customers', 'credits', 'events', 'payments', 'transparency', 'console', 'operators', 'gateway']
  breaches(
    imports
      .filter(({ from, to }) => to.startsWith('src/db/cluster/') && others.includes(folderOf(from) ?? ''))
      .map(({ from, to }) => `${from} imports ${to}`),
  )
})

test('features import each other only through the files that implement their verbs', () => {
  breaches(
    imports.flatMap(({ from, to }) => {
      const [own, other] = [folderOf(from), folderOf(to)]
      const entryFile = other && entryFiles[other]
      if (!own || !features.includes(own) || !entryFile || own === other || entryFile.includes(to)) return []
      return [`${from} imports ${to}: use ${entryFile.join(', ')}`]
    }),
  )
})

test('sandbox, client and examples stand alone; the examples use the client, and only src/dev starts them', () => {
  const alsoFrom: Record<string, string> = { examples: 'client/src/index.ts' }
  breaches(
    imports
      .filter(({ from, to }) => /^(sandbox|client|examples)\//.test(from) && to.split('/')[0] !== from.split('/')[0])
      .filter(({ from, to }) => to !== alsoFrom[from.split('/')[0] ?? ''])
      .map(({ from, to }) => `${from} imports ${to}: it is a program of its own`),
  )
  breaches(
    imports
      .filter(({ from, to }) => /^src\/(?!dev\/)/.test(from) && /^(sandbox|client|examples)\//.test(to))
      .filter(({ to }) => to !== shippedVerifier)
      .map(({ from, to }) => `${from} imports ${to}: src/dev puts it around the service`),
  )
  breaches(
    source
      .filter((file) => /^src\/(?!dev\/)/.test(file) && /from '[^']*\/dev\/(?!secrets\.ts)/.test(read(file)))
      .map((file) => `${file} imports src/dev: by import(), where the gateway is not the real one`),
  )
})

test('there are no import cycles', () => {
  const graph = Map.groupBy(imports, (each) => each.from)
  const done = new Set<string>()
  const cycles: string[] = []
  function visit(file: string, path: string[]): void {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
    if (done.has(file) || path.includes(file)) return
    for (const { to } of graph.get(file) ?? []) visit(to, [...path, file])
    done.add(file)
  }
  for (const file of source) visit(file, [])
  breaches(cycles)
})

test('a table is written only in the files that own it', () => {
  const migrations = files.filter((file) => file.startsWith('migrations/')).map(read)
  const tables = migrations.flatMap((text) => [...text.matchAll(/^create table (\w+)/gm)].map(([, name]) => name))
  assert.deepEqual([...tables, 'schema_migrations'].sort(), Object.keys(writers).sort())
  breaches(
    source.flatMap((file) =>
      [...read(file).matchAll(/\b(?:insert into|delete from|update)\s+(\w+)(?=\s)/g)].flatMap(
        ([statement, table = '']) => {
          const owners = writers[table]
          return !owners || owners.includes(file) ? [] : [`${file}: "${statement}" belongs in ${owners.join(' or ')}`]
        },
      ),
    ),
  )
})

test('statements are named after their folder, once', () => {
  const names = source.flatMap((file) =>
    [...read(file).matchAll(/\bstatement\.\w+\(\s*'([^']+)'/g)].map(([, name = '']) => ({ file, name })),
  )
  breaches(
    names
      .filter(({ file, name }) => !name.startsWith(`${folderOf(file)}.`))
      .map(({ file, name }) => `${file}: ${name}`),
  )
  assert.equal(new Set(names.map(({ name }) => name)).size, names.length)
})

test('SQL is only in files called *.sql.ts, beside the verb that runs it', () => {
  // db/ is below the statements; one command reads a database of another version.
  const exceptions = /^src\/(db\/|commands\/.*restored-access\.ts$)/
  const hasSql = (text: string) =>
    /\bstatement\.\w+\(\s*['`]/.test(text) ||
    [...text.matchAll(/`[^`]*`|'[^'\n]*'/g)].some(([literal]) =>
      /\bselect\b[^`]*\bfrom\b|\binsert into \w+ |\bupdate \w+( \w+)?\s+set\b|\bdelete from \w+|\bunion all\b/.test(
        literal,
      ),
    )
  breaches(
    source
      .filter((file) => file.startsWith('src/') && !file.endsWith('.sql.ts') && !exceptions.test(file))
      .filter((file) => hasSql(read(file)))
      .map((file) => `${file} has SQL: it belongs in a file called *.sql.ts`),
  )
  assert.deepEqual(["const text = 'select 1 from orders'", 'pick an item from `list`'].map(hasSql), [true, false])
})

test('no file matches a banned pattern', () => {
  breaches(
    banned.flatMap(({ files: checked, pattern, instead }) =>
      checked
        .filter((file) => file !== 'test/tidy.test.ts' && pattern.test(read(file)))
        .map((file) => `${file} has ${pattern}: ${instead}`),
    ),
  )
})

test('a literal is not spread into a list: its members are written in the list', () => {
  breaches(code.filter((file) => file !== 'test/tidy.test.ts').flatMap((file) => spreadLiterals(file, read(file))))
  const packed = ['[...[1, 2]]', '{ ...{ a, b }, c }', 'f(...([a, [b]] as const))', '<P {...{ a: 1 }} />']
  const allowed = [
    '[...[1, 2].map(f)]',
    'f(...([a] as const).map(g))',
    '(...[a]: [number]) => a',
    '{ ...(a && { b }) }',
  ]
  assert.deepEqual(
    packed.flatMap((each) => spreadLiterals('a.ts', each)),
    packed.map(() => 'a.ts: line 1'),
  )
  assert.deepEqual(
    allowed.flatMap((each) => spreadLiterals('a.ts', each)),
    [],
  )
})

/** `...[a, b]` and `...{ a, b }` where the literal is all that is spread: no call and no type follows it. */
function spreadLiterals(file: string, text: string): string[] {
  const code = text.replace(/'[^'\n]*'|\\[[\](){}]/g, (part) => '_'.repeat(part.length))
  return [...code.matchAll(/\.\.\.(\(*)(?=[[{])/g)].flatMap(({ index, 0: dots, 1: brackets = '' }) => {
    const rest = code.slice(closingBracket(code, index + dots.length) + 1)
    const end = new RegExp(`^(?: as const)?\\){${brackets.length}}\\s*[,)\\]}]`)
    return end.test(rest) ? [`${file}: line ${code.slice(0, index).split('\n').length}`] : []
  })
}

function closingBracket(code: string, start: number): number {
  let depth = 0
  for (let place = start; place < code.length; place += 1) {
    if ('[{('.includes(code[place] ?? '')) depth += 1
    else if (']})'.includes(code[place] ?? '')) depth -= 1
    if (depth === 0) return place
  }
  return code.length
}

test('files open with a comment that states what they are responsible for', () => {
  breaches(code.filter((file) => !read(file).startsWith('// ')))
})

test('an exported name of src is exported by one file', () => {
  const names = source
    .filter((file) => file.startsWith('src/'))
    .flatMap((file) =>
      [...read(file).matchAll(/^export (?:async )?(?:function\*?|const|type|class) (\w+)/gm)].map(([, name]) => ({
        name,
        file,
      })),
    )
  const twice = [...Map.groupBy(names, ({ name }) => name)].filter(([, places]) => places.length > 1)
  breaches(twice.map(([name, places]) => `${name} is exported by ${places.map(({ file }) => file).join(' and ')}`))
})

test('no folder has a meaningless name', () => {
  breaches(files.filter((file) => /(^|\/)(utils?|helpers?|common|shared|services|misc|lib)\//.test(file)))
})

test('test titles are facts: none contains "should"', () => {
  const tests = code.filter((file) => file.endsWith('.test.ts') && file !== 'test/tidy.test.ts')
  breaches(tests.filter((file) => /\b(test|it|describe)\(\s*['"`][^'"`]*\bshould\b/.test(read(file))))
})

test('documents name only files that exist', () => {
  const documents = files.filter((file) => file.endsWith('.md'))
  breaches(
    documents.flatMap((document) =>
      [
        ...read(document).matchAll(
          /`((?:src|console|test|migrations|sandbox|examples|client|docs|proof|bench|harness)\/[\w./-]+\.\w+)`/g,
        ),
      ]
        .map(([, file = '']) => file)
        .filter((file) => !existsSync(join(root, file)))
        .map((file) => `${document} names ${file}`),
    ),
  )
})

/** The names of files in comments that have a line of their own. */
function namesInComments(text: string): string[] {
  return [...text.matchAll(/^\s*(?:\/\/|\/\*\*|\*) .*$/gm)]
    .flatMap(([comment]) => [...comment.matchAll(/(?<=[\s(`])[\w/-][\w./-]*\.(?:tsx?|mjs|md|sql|ya?ml)\b/g)])
    .map(([name]) => name)
}

test('comments name only files that exist', () => {
  const names = new Set(files.flatMap((file) => file.split('/').map((_, place, parts) => parts.slice(place).join('/'))))
  const sample = '// See docs/tour.md (begin.sql.ts).\nconst text = "a.ts"\n  /** As in `x/y.test.ts`. */\n'
  assert.deepEqual(namesInComments(sample), ['docs/tour.md', 'begin.sql.ts', 'x/y.test.ts'])
  breaches(
    code.flatMap((file) =>
      namesInComments(read(file))
        .filter((name) => !names.has(name))
        .map((name) => `${file} names ${name}`),
    ),
  )
})

test('text files have no merge markers, no trailing blanks, and a newline at the end', () => {
  breaches(texts.filter((file) => /^(<{7}|>{7}) /m.test(read(file)) || /[ \t]$/m.test(read(file))))
  breaches(texts.filter((file) => !read(file).endsWith('\n')))
})
