// The command that verifies receipts and checkpoints. It opens no database and reads no settings, so anyone can run it; the
// verifier is the one that ships with the client.
import { readFile } from 'node:fs/promises'
import { verifyFiles } from '../../client/src/verify/files.ts'
import type { Command } from './command.ts'

export const verifyCommands: Command[] = [
  {
    name: 'verify',
    summary: 'Verifies receipts, checkpoints and consistency proofs. Needs no database and no settings.',
    details: [
      'A receipt: the checkpoint is signed, every entry is in it, the entries belong to the order, the reference or the ' +
        'statement, and their balances add up. Of several files also: their checkpoints are of one history, each being the ' +
        'beginning of the largest. Where no consistency proof is among the files, the log is asked for one.',
      'No two files may say different things of one entry: to find out whether an entry was changed, give the receipt that you ' +
        'kept and a new one of the same entries. A witness whose key is given must have cosigned a checkpoint that has all ' +
        'entries, in one of the files or, with --log, among those that the log has published.',
      'Without --key the key in the receipt is used. That proves that nothing was changed since it was signed with that key, ' +
        'and not whose key it is: give the key that you know.',
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
      { line: 'verify receipt.json', description: 'with the key in the receipt' },
      {
        line: 'verify receipt.json --key prepaid-credits/log+3f2a9c1d+ATc2...= --log http://127.0.0.1:8081/log',
        description: 'with your key; also that the current log still contains it',
      },
      { line: 'verify mine.json theirs.json', description: 'whether two receipts are of one history' },
    ],
    failsWhen: 'a file is not verified, not all are of one history, or a given witness has not cosigned them',
    changesData: false,
    async runStandalone({ positionals, values: { key: keys = [], log }, resolvePath }) {
      const files = positionals.map(async (name) => ({ name, content: await readFile(resolvePath(name)) }))
      return verifyFiles(await Promise.all(files), { keys, log })
    },
    failed: (result) => !(result as { ok: boolean }).ok,
  },
]
