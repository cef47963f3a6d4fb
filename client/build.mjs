// `npm pack` runs this: compiles src to dist, types included. The compiler leaves `.ts` in the imports of declarations,
// which only its own newer versions follow: a program that uses the package may have an older one.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const dist = `${here}dist/`

rmSync(dist, { recursive: true, force: true })
execFileSync(process.execPath, [`${here}../node_modules/typescript/bin/tsc`, '--project', here], { stdio: 'inherit' })
for (const name of readdirSync(dist).filter((each) => each.endsWith('.d.ts'))) {
  const text = readFileSync(`${dist}${name}`, 'utf8')
  writeFileSync(`${dist}${name}`, text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
}
