// Commands about the database as a whole: into a file, out of one, and from the embedded server to one of the operator's.
import { placeOf } from '../../db/open.ts'
import type { Command } from '../command.ts'
import { backup, confirmRestore, move, restore } from './copy.ts'

const notOk = (result: object) => !(result as { ok: boolean }).ok || 'lacks' in result

export const copyCommands: Command[] = [
  {
    name: 'backup',
    does: 'Writes the whole database as it is at one moment into one file, beside running traffic.',
    more: [
      'The secrets are not in it: KEY_PEPPER (or key-pepper in DATA_DIR) and the settings are kept elsewhere, or no key of ' +
        'the restored service works.',
      'The file has its name when it is whole and on the disk; one that is there is not overwritten.',
    ],
    options: { to: { value: 'FILE', about: 'where to', needed: true, isFile: true } },
    interrupted: 'There is no file of that name; what was written is removed now, or by the next backup of that name.',
    examples: [{ line: 'backup --to credits-2026-01-31.backup', does: 'how many rows of each table are in it' }],
    changes: false,
    alone: backup,
  },
  {
    name: 'restore',
    does: 'Fills an empty database from a backup, migrates it to this version and audits it.',
    more: [
      'The database is the one of the settings: DATABASE_URL, or the embedded one in DATA_DIR, where no service may run. ' +
        'The file is read through before anything is touched. It is done when it says so: before, and after an audit that ' +
        'finds a violation, no service starts on it.',
      'Keys, tokens, operators and endpoints are as they were then. With --old those that were suspended or removed since are ' +
        'listed, each with the command that does it again. A password in the URL is visible to every user who can list processes.',
      'After a restore of an older backup start with WORKER=off and run reconcile first: docs/operations.md.',
    ],
    options: {
      from: { value: 'FILE', about: 'the backup', needed: true, isFile: true },
      old: {
        value: 'URL|DIRECTORY',
        about: 'the database that it replaces, to be read: its URL or its DATA_DIR',
        isFile: true,
      },
    },
    examples: [
      { line: 'restore --from credits-2026-01-31.backup', does: 'what is in it, and what the audit says' },
      {
        line: 'restore --from credits-2026-01-31.backup --old /srv/credits/data',
        does: 'the same, and what was suspended since',
      },
    ],
    interrupted:
      'The database is empty still, or it is marked and no service starts on it: then make an empty one and restore again.',
    failsWhen: 'the audit finds a violation, or the secret that the keys were hashed under is not here',
    changes: true,
    confirm: confirmRestore,
    alone: restore,
    failed: notOk,
  },
  {
    name: 'move',
    does: 'Copies the embedded database to an empty one on a server, and says with what to start.',
    more: [
      'Stop the service first, and let no other command run. The role of the URL will own the tables. The copy is held against the original row by row and ' +
        'audited; the original stays as it is, and is not started again by mistake: DATA_DIR/postgres.moved says how to ' +
        'go back.',
      'A password in the URL is seen by everybody who can list processes; PGPASSWORD is not.',
    ],
    options: {
      to: {
        value: 'URL',
        about: 'postgres://user@host:port/database',
        needed: true,
        expects: 'postgres://user@host:port/database',
        accepts: (text) => /^postgres(ql)?:\/\//.test(text),
      },
    },
    examples: [{ line: 'move --to postgres://credits@db.example:5432/credits', does: 'the line to start with' }],
    interrupted:
      'The database here is as it was. The one there is empty still, or it is marked and no service starts on it: then make ' +
      'an empty one, remove DATA_DIR/postgres.moved if it is there, and move again.',
    failsWhen: 'the audit of the copy finds a violation',
    changes: true,
    async confirm({ place, values }) {
      const will = { from: place.dataDir, to: placeOf(values.to ?? '') }
      return { will, question: 'Move the database there? The one here is not served any more.' }
    },
    alone: move,
    failed: notOk,
  },
]
