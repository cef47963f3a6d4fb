// Shows that a log with a new name begins with all entries of a file under its old one: docs/receipts.md, "After the log was
// renamed". Needs Node 20, and nothing beside the verifier.
import { readFile } from 'node:fs/promises'
import { verify, verifyConsistency } from '../../client/src/verify/verify.js'

const { URL: url, OLD_VKEY, NEW_VKEY } = process.env
const [old] = (await verify(await readFile(process.argv[2], 'utf8'), [OLD_VKEY])).checkpoints
const [now] = (await verify(await (await fetch(`${url}/checkpoint`)).text(), [NEW_VKEY])).checkpoints
const { proof } = await (await fetch(`${url}/consistency?from=${old.size}&to=${now.size}`)).json()
await verifyConsistency({ ...old, origin: now.origin }, now, proof)
process.stdout.write(`the log with the new name begins with the ${old.size} entries of your file\n`)
