// The published checkpoints of the transparency log and its witnesses, for the page of the log.
import {
  type Cosigned,
  listCosigned,
  listPublished,
  type StoredCheckpoint,
} from '../../transparency/publication/checkpoints.sql.ts'
import type { ConsoleContext } from '../context.ts'
import type { Handlers } from '../routes.ts'

const shownCheckpoints = 20

export function publicationHandlers({
  database,
  witnesses,
}: Pick<ConsoleContext, 'database' | 'witnesses'>): Handlers<'publications'> {
  return {
    async publications() {
      const vkeys = witnesses.map(({ key }) => key.vkey)
      const [cosigned, published] = await Promise.all([
        listCosigned(database, vkeys),
        listPublished(database, null, shownCheckpoints),
      ])
      return {
        witnesses: witnesses.map(({ url, key }) => ({
          name: key.name,
          host: new URL(url).host,
          ...cosignedBy(key.vkey, cosigned),
        })),
        checkpoints: published.toReversed().map(rowOf),
      }
    },
  }
}

function cosignedBy(vkey: string, cosigned: Cosigned[]) {
  const { size = null, receivedAt: cosignedAt = null } = cosigned.find((each) => each.vkey === vkey) ?? {}
  return { size, cosignedAt }
}

/** Also names of witnesses that are no longer configured. */
function rowOf({ size, root, publishedAt, cosignatures }: StoredCheckpoint) {
  const cosigners = cosignatures.map(({ vkey }) => vkey.slice(0, vkey.indexOf('+')))
  return { size, root: root.toString('base64'), publishedAt, cosigners }
}
