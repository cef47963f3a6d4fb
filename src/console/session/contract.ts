// What signing in takes and gives, and the two lists about operators.
import Type from 'typebox'
import { roles } from '../../operators/permissions.ts'
import { Detail, Flag, lineOf, Moment, MomentOrNull, paging, Text, TextOrNull } from '../schema-words.ts'

/** The longest that is hashed; a passphrase fits. */
const Password = Type.String({ minLength: 1, maxLength: 200, description: 'a password of 1 to 200 characters' })
const NewPassword = Type.String({
  minLength: 12,
  maxLength: 200,
  description: 'a password of 12 to 200 characters',
})

export const SignInBody = Type.Object({
  name: lineOf(100, 'the name of an operator'),
  password: Password,
})
export const PasswordBody = Type.Object({ current: Password, next: NewPassword })

export const SessionData = Type.Object({
  name: Text,
  role: Type.Enum([...roles]),
  permissions: Type.Array(Text),
  /** Until then nothing else is answered. */
  mustChangePassword: Flag,
  /** When it ends whatever happens, and when it ends unless something is asked for. */
  endsAt: Moment,
  idleEndsAt: Moment,
})
export const NothingData = Type.Null()

export const TrailQuery = Type.Object({
  ...paging,
  subject: Type.Optional(lineOf(100, 'the id of what an action was about')),
})
export const TrailData = Type.Object({
  actions: Type.Array(
    Type.Object({
      actionId: Text,
      at: Moment,
      actor: Text,
      command: Text,
      arguments: Type.Array(Text),
      subject: TextOrNull,
      reason: TextOrNull,
      /** Null: under way, or killed. */
      outcome: TextOrNull,
      about: Type.Union([Detail, Type.Null()]),
      endedAt: MomentOrNull,
    }),
  ),
  nextCursor: TextOrNull,
})

export const OperatorsData = Type.Object({
  operators: Type.Array(
    Type.Object({
      operatorId: Text,
      name: Text,
      role: Type.Enum([...roles]),
      status: Type.Enum(['ACTIVE', 'SUSPENDED']),
      createdAt: Moment,
      passwordSetAt: Moment,
      lastSeenAt: MomentOrNull,
      mustChangePassword: Flag,
    }),
  ),
})
