// `npm pack` runs this: compiles src to dist, types included. The compiler is the only package it needs: that of the service
// where the service is installed, otherwise one of its own, installed here. The compiler leaves `.ts` in the imports of
// declarations, which only its own newer versions follow: a program that uses the package may have an older one.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writeSchema } from './schema.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const dist = `${here}dist/`
const compilers = [`${here}node_modules/typescript/bin/tsc`, `${here}../node_modules/typescript/bin/tsc`]

/** Prints to stderr only: stdout is the name of the packed file. */
function install() {
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm']
  const [command, ...prefix] = npm
  const options = ['ci', '--include=dev', '--ignore-scripts', '--loglevel=error']
  execFileSync(command, [...prefix, ...options], { cwd: here, stdio: ['ignore', 2, 2] })
}

if (!compilers.some(existsSync)) install()
writeSchema()
rmSync(dist, { recursive: true, force: true })
execFileSync(process.execPath, [compilers.find(existsSync), '--project', here], { stdio: 'inherit' })
// The verifier is plain JavaScript: the file that is read is the file that runs.
for (const name of ['verify/verify.js', 'verify/verify.d.ts']) copyFileSync(`${here}src/${name}`, `${dist}${name}`)
for (const name of readdirSync(dist, { recursive: true }).filter((each) => each.endsWith('.d.ts'))) {
  const text = readFileSync(`${dist}${name}`, 'utf8')
  writeFileSync(`${dist}${name}`, text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
}
