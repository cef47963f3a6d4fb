// The command that verifies receipts and checkpoints. It needs neither a database nor settings, so anyone can run it; the verifier is
// the one that ships with the client. With the settings of a service it uses the keys of its log, and opens its database only
// when the keys of its secrets are not enough.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type NamedFile, signerNotKnown, type VerifyReport, verifyFiles } from '../../client/src/verify/files.ts'
import { openDatabase } from '../db/open.ts'
import { type LogKey, logKeysOf } from '../transparency/note.ts'
import { knownKeys } from '../transparency/publication/published.ts'
import { keyTypes, readVerifierKey } from '../transparency/verifier-key.ts'
import type { Command, StandaloneCall } from './command.ts'

/** A database that does not answer must not delay the answer for long. */
const databaseWaitMs = 2_000

/** The keys by the secrets of this environment; empty: there are none, or other settings are wrong. */
function ownKeys({ knownPeppers, logName }: StandaloneCall): LogKey[] {
  try {
    return logKeysOf(knownPeppers() ?? [], logName().origin)
  } catch {
    return []
  }
}

/** Those that no configured secret makes any more. The database names them by lists that a later key has signed. */
async function retiredKeys(call: StandaloneCall, keys: LogKey[]): Promise<string[]> {
  const { databaseUrl, dataDir } = call.databaseOptions
  // Opening a directory without an embedded database would create an empty one.
  if (!databaseUrl && !['postgres', 'postgres.location'].some((name) => existsSync(join(dataDir, name)))) return []
  const { database, close } = await openDatabase({ ...call.databaseOptions, databaseWaitMs, use: 'command' })
  try {
    const own = keys.map(({ vkey }) => vkey)
    return (await knownKeys(database, keys)).filter((vkey) => !own.includes(vkey))
  } finally {
    await close()
  }
}

async function verifyByOwnKeys(call: StandaloneCall, files: NamedFile[]): Promise<VerifyReport> {
  const { key: given = [], log } = call.values
  const keys = ownKeys(call)
  const verifyBy = async (vkeys: string[]) => {
    const report = await verifyFiles(files, { keys: [...given, ...vkeys], log })
    return { ...report, ...(vkeys.length > 0 && { key: 'of this service' }) }
  }
  const own = keys.map(({ vkey }) => vkey)
  const report = await verifyBy(own)
  if (report.result !== 'not verified' || keys.length === 0) return report
  const retired = await retiredKeys(call, keys).catch(() => [])
  return retired.length > 0 ? verifyBy([...own, ...retired]) : report
}

export const verifyCommands: Command[] = [
  {
    name: 'verify',
    summary: 'Verifies receipts, checkpoints and consistency proofs. Needs no service and no settings.',
    details: [
      'A receipt: the checkpoint is signed, every entry is in it, the entries belong to the order, the reference or the ' +
        'statement, and their balances add up. Of several files also: their checkpoints are of one history, each being the ' +
        'beginning of the largest. Where no consistency proof is among the files, the log is asked for one.',
      'No two files may say different things of one entry: to find out whether an entry was changed, give the receipt that you ' +
        'kept and a new one of the same entries. A witness whose key is given must have cosigned a checkpoint that has all ' +
        'entries, in one of the files or, with --log, among those that the log has published.',
      'Without --key, where KEY_PEPPER and LOG_ORIGIN of a service are set, or beside its DATA_DIR, the keys of its log are used: ' +
        'those of its secrets, and retired ones that its database names. Elsewhere the key in the receipt is used. That proves ' +
        'that nothing was changed since it was signed with that key, and not whose key it is, because anyone can sign a receipt ' +
        'under any name: the files are consistent, and the signer is not known.',
    ],
    arguments: [
      { name: 'FILE', description: 'a receipt, a checkpoint or a consistency proof', isFile: true, isRepeated: true },
    ],
    options: {
      key: {
        value: 'VKEY',
        description: "a trusted key, of the log or of a witness, as the log's /keys prints it; repeatable",
        expects: 'name+id+base64',
        accepts: (text) => /^[^\s+]+\+[0-9a-f]{8}\+\S+$/u.test(text),
        isRepeated: true,
      },
      log: {
        value: 'URL',
        description: 'the address of the log, to compare with its current checkpoint: http://127.0.0.1:8081/log',
        expects: 'an http or https address',
        accepts: (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
      },
    },
    examples: [
      { line: 'verify receipt.json', description: 'with the keys of this service, or with the key in the receipt' },
      {
        line: 'verify receipt.json --key prepaid-credits/log+3f2a9c1d+ATc2...= --log http://127.0.0.1:8081/log',
        description: 'with your key; also that the current log still contains it',
      },
      { line: 'verify mine.json theirs.json', description: 'whether two receipts are of one history' },
    ],
    failsWhen: 'a file is not verified, not all are of one history, or a given witness has not cosigned them',
    undecidedWhen:
      'consistent, and the signer is not known: no key was given, and none of a service is configured here',
    changesData: false,
    async runStandalone(call) {
      const { positionals, values, resolvePath } = call
      const { key: keys = [], log } = values
      const files = await Promise.all(
        positionals.map(async (name) => ({ name, content: await readFile(resolvePath(name)) })),
      )
      const isGiven = keys.some((vkey) => readVerifierKey(vkey, keyTypes.cosignature) === undefined)
      return isGiven ? verifyFiles(files, { keys, log }) : verifyByOwnKeys(call, files)
    },
    failed: (result) => (result as VerifyReport).result === 'not verified',
    undecided: (result) => (result as VerifyReport).result === signerNotKnown,
  },
]
