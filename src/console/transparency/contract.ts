// The endpoints of receipts and of the page of the transparency log.
import Type from 'typebox'
import { Flag, Moment, MomentOrNull, Text, Whole, WholeOrNull } from '../schema-types.ts'

/** `content` is one line of JSON: line breaks and other invisible characters in it are escapes, so nothing changes it on the way. */
export const ReceiptFileData = Type.Object({ name: Text, content: Text })

export const TransparencyLogData = Type.Object({
  /** Null before the first entry is logged. */
  checkpoint: Type.Union([Type.Object({ size: Whole, root: Text, writtenAt: Moment }), Type.Null()]),
  /** Newest first. */
  keys: Type.Array(Text),
  /** Entries that are not in the log yet; `waitingIsMore`: there are more, and counting has stopped. */
  waiting: Whole,
  waitingIsMore: Flag,
  /** The restore because of which nothing is signed under the name of the log; null: it is signed. */
  heldBack: Type.Union([Type.Object({ restoreId: Text, origin: Text, size: Whole, restoredAt: Moment }), Type.Null()]),
})

export const PublicationsData = Type.Object({
  /** Those of the settings. Of an address only the host is shown. */
  witnesses: Type.Array(
    Type.Object({
      name: Text,
      host: Text,
      /** The size of the newest checkpoint that it has cosigned; null: none. */
      size: WholeOrNull,
      cosignedAt: MomentOrNull,
    }),
  ),
  /** Newest first, up to a limit. */
  checkpoints: Type.Array(
    Type.Object({ size: Whole, root: Text, publishedAt: MomentOrNull, cosigners: Type.Array(Text) }),
  ),
})
