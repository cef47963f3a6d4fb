// The schemas of signing in, of the own password and of the list of operators.
import Type from 'typebox'
import { roles } from '../../operators/permissions.ts'
import { Flag, lineOf, Moment, MomentOrNull, Text } from '../schema-types.ts'

/** Long enough for a passphrase; longer input is not hashed. */
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
  /** While true, every other endpoint is refused. */
  mustChangePassword: Flag,
  /** When it ends in any case, and when it ends without another request. */
  endsAt: Moment,
  idleEndsAt: Moment,
})
export const NothingData = Type.Null()

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
