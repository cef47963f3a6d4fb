// `npm pack` runs this: compiles the sandbox to dist and adds what its pages consist of. Types are checked by
// `npm run check` of the repository; here the compiler alone is needed, from the installation of the service when there is
// one, otherwise from one of its own, which takes seconds.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const compilers = ['../node_modules', 'node_modules'].map((folder) => `${here}${folder}/typescript/bin/tsc`)

if (!compilers.some(existsSync)) {
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm']
  execFileSync(npm[0], [...npm.slice(1), 'ci', '--include=dev', '--ignore-scripts', '--loglevel=error'], {
    cwd: here,
    stdio: ['ignore', 2, 2],
  })
}
rmSync(`${here}dist`, { recursive: true, force: true })
execFileSync(process.execPath, [compilers.find(existsSync), '--project', here], { stdio: ['ignore', 2, 2] })
for (const folder of ['checkout', 'page'])
  cpSync(`${here}${folder}/assets`, `${here}dist/${folder}/assets`, { recursive: true })

const main = `${here}dist/main.js`
writeFileSync(main, `#!/usr/bin/env node\n${readFileSync(main, 'utf8')}`)
chmodSync(main, 0o755)
