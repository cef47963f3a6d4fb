// `npm run statements`: writes statements.sql.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { dumpStatements } from './statements.ts'

const file = fileURLToPath(new URL('../../../statements.sql', import.meta.url))
writeFileSync(file, await dumpStatements())
process.stderr.write(`Wrote ${file}\n`)
