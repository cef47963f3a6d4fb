// The template database of another program: each run gets a copy of its own.
import pg from 'pg'
import { clonesOf, type Template } from '../core/template.ts'
import type { Place } from '../runner.ts'

export async function attachTemplate({ directory, socketPath, owner, servingRole }: Place): Promise<Template> {
  const connection = owner as Template['owner']
  const admin = new pg.Client(connection as pg.ClientConfig)
  await admin.connect()
  return {
    directory,
    socketPath,
    owner: connection,
    servingRole,
    ...clonesOf(admin),
    close: () => admin.end(),
  }
}
