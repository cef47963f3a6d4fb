// The template database of another program: each run gets a copy of its own.
import pg from 'pg'
import type { Template } from '../core/template.ts'
import type { Place } from '../runner.ts'

/** The same for every run: statements that name their database have the same answers then. One run at a time has it. */
const bookName = 'books'

export async function attachTemplate({ socketPath, owner, servingRole, templateName }: Place): Promise<Template> {
  const connection = owner as Template['owner']
  const admin = new pg.Client(connection as pg.ClientConfig)
  await admin.connect()
  const drop = async (name: string) => void (await admin.query(`drop database if exists ${name} with (force)`))
  return {
    socketPath,
    owner: connection,
    servingRole,
    async clone() {
      await drop(bookName)
      await admin.query(`create database ${bookName} template ${templateName} strategy file_copy`)
      await admin.query(`revoke temporary on database ${bookName} from public`)
      return bookName
    },
    drop,
    close: () => admin.end(),
  }
}
