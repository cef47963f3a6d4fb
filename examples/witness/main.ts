// `node examples/witness/main.ts`: starts a witness and prints the line that the log's operator needs. Two histories of a log that
// were shown to it are printed to standard error.
import { parseArgs } from 'node:util'
import { startWitness } from './witness.ts'

const { values } = parseArgs({
  options: {
    name: { type: 'string' },
    log: { type: 'string', multiple: true },
    state: { type: 'string', default: 'witness.json' },
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8085' },
  },
})
const { name, log: logs = [], state: stateFile, host, port } = values
if (!name || logs.length === 0) {
  process.stderr.write(
    'Usage: node main.ts --name NAME --log VKEY [--log VKEY] [--state FILE] [--host HOST] [--port PORT]\n',
  )
  process.exit(2)
}
const onSplit = (cosigned: string, refused: string) =>
  process.stderr.write(`Two histories of one log. Cosigned:\n${cosigned}\nRefused:\n${refused}\n`)
const { url, vkey } = await startWitness({ name, logs, stateFile, host, port: Number(port), onSplit })
process.stdout.write(`${url} ${vkey}\n`)
