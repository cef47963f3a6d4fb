// Commands about the database as a whole: migrate it, back it up, restore it, move it to a server.
import type { Command } from '../command.ts'
import { backup } from './backup.ts'
import { applyMigrations } from './migrate.ts'
import { confirmMove, move } from './move.ts'
import { confirmRestore, restore } from './restore.ts'

const isNotOk = (result: object) => !(result as { ok: boolean }).ok || 'lacks' in result

export const databaseCommands: Command[] = [
  {
    name: 'migrate',
    summary:
      'Applies the migrations of this version and grants the serving role its rights, as the owner of the tables.',
    details: [
      'MIGRATION_DATABASE_URL is the URL of the owner, DATABASE_URL the URL of the serving role. Services that start ' +
        'afterwards need only the second. Services of the previous version keep running meanwhile.',
      'It can run several times, also concurrently: migrations that are already applied are skipped.',
    ],
    examples: [{ line: 'migrate', description: 'lists the applied migrations' }],
    afterInterrupt: 'Each migration is applied completely or not at all. Run the command again.',
    changesData: true,
    runStandalone: applyMigrations,
  },
  {
    name: 'backup',
    summary: 'Writes a consistent snapshot of the whole database into one file, also while the service runs.',
    details: [
      'The file does not contain the secrets. Keep KEY_PEPPER (or key-pepper in DATA_DIR) and the settings elsewhere: ' +
        'without them no key of the restored service is valid.',
      'The file gets its name when it is complete and synced to disk. An existing file is not overwritten.',
    ],
    options: { to: { value: 'FILE', description: 'the file to write', required: true, isFile: true } },
    afterInterrupt:
      'There is no file of that name; the partial file is removed now, or by the next backup of that name.',
    examples: [
      { line: 'backup --to credits-2026-01-31.backup', description: 'shows the number of rows of each table' },
    ],
    changesData: false,
    exportsData: true,
    runStandalone: backup,
  },
  {
    name: 'restore',
    summary: 'Fills an empty database from a backup, migrates it to this version and audits it.',
    details: [
      'The target is the configured database: DATABASE_URL, or the embedded one in DATA_DIR. No service may use it. The ' +
        'whole file is read and checked first. No service starts on the target before the restore has finished, nor after ' +
        'an audit that finds a violation.',
      'Keys, customers, tokens, operators and endpoints are as they were at the time of the backup. With --old those that ' +
        'were suspended or removed since are listed, each with the command that does it again. A password in the URL is ' +
        'visible to every user who can list processes.',
      'After restoring an older backup, start with WORKER=off and run reconcile first: docs/operations.md.',
    ],
    options: {
      from: { value: 'FILE', description: 'the backup', required: true, isFile: true },
      old: {
        value: 'URL|DIRECTORY',
        description: 'the database that it replaces, which is only read: its URL or its DATA_DIR',
        isFile: true,
      },
    },
    examples: [
      {
        line: 'restore --from credits-2026-01-31.backup',
        description: 'shows the number of rows of each table and the result of the audit',
      },
      {
        line: 'restore --from credits-2026-01-31.backup --old /srv/credits/data',
        description: 'the same, and what was suspended or removed since',
      },
    ],
    afterInterrupt:
      'The database is still empty, or it is marked and no service starts on it: then create an empty one and restore again.',
    failsWhen: 'the audit finds a violation, or the secret that keys were hashed under is missing here',
    changesData: true,
    confirm: confirmRestore,
    runStandalone: restore,
    failed: isNotOk,
  },
  {
    name: 'move',
    summary: 'Copies the embedded database to an empty one on a server, and prints the command to start with.',
    details: [
      'Stop the service first, and run no other command meanwhile. The role of the URL will own the tables. The copy is ' +
        'compared with the original row by row and audited. The original stays unchanged, and no service starts on it by ' +
        'mistake: DATA_DIR/postgres.moved explains how to go back.',
      'A password in the URL is visible to every user who can list processes; PGPASSWORD is not.',
    ],
    options: {
      to: {
        value: 'URL',
        description: 'postgres://user@host:port/database',
        required: true,
        expects: 'postgres://user@host:port/database',
        accepts: (text) => /^postgres(ql)?:\/\//.test(text),
      },
    },
    examples: [
      {
        line: 'move --to postgres://credits@db.example:5432/credits',
        description: 'shows the rows of each table and the command to start with',
      },
    ],
    afterInterrupt:
      'The database here is unchanged. The one there is still empty, or it is marked and no service starts on it: then ' +
      'create an empty one, remove DATA_DIR/postgres.moved if it exists, and move again.',
    failsWhen: 'the audit of the copy finds a violation',
    changesData: true,
    confirm: confirmMove,
    runStandalone: move,
    failed: isNotOk,
  },
]
