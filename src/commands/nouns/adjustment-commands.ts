// Commands about adjustments: goodwill and corrections, and the requests that wait for a second person.
import { randomUUID } from 'node:crypto'
import { uuidPattern } from '../../core/ids.ts'
import { findRequest, listPendingRequests, type OperatorKind } from '../../credits/adjustments/adjust.sql.ts'
import { adjust, isRequest, reject } from '../../credits/adjustments/adjust.ts'
import { listAdjustments } from '../../credits/adjustments/adjustments.sql.ts'
import { balancesAt } from '../../credits/statement/statement.ts'
import { withCustomerNames } from '../../customers/names.sql.ts'
import { withTypedBy } from '../../operators/typed-by.sql.ts'
import { approvePending } from '../../payments/refunds/approve.ts'
import { personOf } from '../action-log-entry.ts'
import type { Argument, Call, Command, CommandInput, Confirmation, Option } from '../command.ts'
import { customerOption, limitOption, reasonOption } from '../line/options.ts'
import { findCustomerId, requireCustomerId } from './customer-option.ts'
import { limitsOfPerson, needsSecondPerson } from './person-limits.ts'

const listLimit = 1_000
const sampleId = '3f0d5a52-8c57-4d1e-9d0c-6a7a54f2b9e1'

const requestArgument: Argument = {
  name: 'ID',
  description: 'the adjustmentId of the request',
  listedBy: 'adjustments pending',
}

const grantOption: Option = {
  value: 'N',
  description: 'the credits',
  required: true,
  expects: 'a whole number of credits, at least 1',
  accepts: (text) => /^[1-9]\d{0,8}$/.test(text),
}
const correctOption: Option = {
  value: '±N',
  description: 'the credits, negative to take some: -5',
  required: true,
  expects: 'a whole number of credits other than 0',
  accepts: (text) => /^[+-]?[1-9]\d{0,8}$/.test(text),
}

const limitText =
  'The limit is per person and Korean day (ADJUSTMENT_LIMITS): that of an operator of the console by their role, that of an ' +
  'admin for any other name. More than ADJUSTMENT_APPROVAL_ABOVE credits, or than is left of the limit today, become a ' +
  'request, which moves nothing until another person approves it.'

function adjustAs(kind: OperatorKind) {
  return async function run(call: Call): Promise<object> {
    const { values, database } = call
    const adjustment = {
      customerId: await requireCustomerId(call),
      adjustmentId: randomUUID(),
      kind,
      credits: Number(values.credits),
      reason: values.reason?.trim() ?? '',
      actor: personOf(values),
    }
    return adjust(database, adjustment, await limitsOfPerson(call))
  }
}

async function confirmAdjustment(call: Call): Promise<Confirmation> {
  const { values, database } = call
  const customerId = await requireCustomerId(call)
  const { available } = await balancesAt(database, customerId, null)
  const credits = Number(values.credits)
  const preview = { customerId, credits, availableNow: available }
  if (await needsSecondPerson(call, credits)) {
    return { preview, question: 'Store this as a request? It moves credits when another person approves it.' }
  }
  const availableAfter = (available ?? 0) + credits
  return { preview: { ...preview, availableAfter }, question: 'Adjust the balance? The customer sees it at once.' }
}

async function confirmApproval({ database, positionals: [id = ''] }: Call): Promise<Confirmation | undefined> {
  const preview = await findRequest(database, id.toLowerCase())
  return preview && { preview, question: 'Approve this adjustment?' }
}

const checkId = ({ positionals: [id = ''] }: CommandInput) =>
  uuidPattern.test(id) ? undefined : 'ID is a UUID, as adjustments pending shows it.'

async function customerOfRequest({ database, positionals: [id = ''] }: Omit<Call, 'subject'>): Promise<string | null> {
  return (await findRequest(database, id.toLowerCase()))?.customerId ?? null
}

export const adjustmentCommands: Command[] = [
  {
    name: 'adjustments grant',
    summary: 'Grants credits as goodwill. They have no cash value and are used last.',
    details: [limitText],
    options: { customer: customerOption, credits: grantOption, reason: reasonOption('the reason, for the action log') },
    examples: [
      {
        line: 'adjustments grant --customer acme --credits 5 --reason "slow answers"',
        description: 'asks on a terminal',
      },
    ],
    changesData: true,
    requested: isRequest,
    findSubject: findCustomerId,
    confirm: confirmAdjustment,
    run: adjustAs('GOODWILL'),
  },
  {
    name: 'adjustments correct',
    summary: 'Corrects a balance: adds credits without cash value, or takes available ones.',
    details: [limitText],
    options: {
      customer: customerOption,
      credits: correctOption,
      reason: reasonOption('the reason, for the action log'),
    },
    examples: [
      {
        line: 'adjustments correct --customer acme --credits -3 --reason "granted twice"',
        description: 'takes 3 credits; refused when fewer are available',
      },
    ],
    changesData: true,
    requested: isRequest,
    findSubject: findCustomerId,
    confirm: confirmAdjustment,
    run: adjustAs('CORRECTION'),
  },
  {
    name: 'adjustments list',
    summary: `Lists a customer's goodwill, corrections and reversals, newest first, at most ${listLimit}.`,
    options: { customer: customerOption, limit: limitOption(listLimit) },
    examples: [{ line: 'adjustments list --customer acme', description: 'with reason, operator or service' }],
    changesData: false,
    async run(call) {
      const limit = Number(call.values.limit ?? listLimit)
      const customerId = await requireCustomerId(call)
      const listed = await listAdjustments(call.database, customerId, { before: null, limit })
      const typed = await withTypedBy(
        call.database,
        listed.map((each) => ({ ...each, customerId })),
      )
      return listed.map((each, place) => ({
        ...each,
        actor: typed[place]?.typedBy ?? each.actor,
        approvedBy: typed[place]?.approvalTypedBy ?? each.approvedBy,
      }))
    },
  },
  {
    name: 'adjustments pending',
    summary: `Lists the requests that wait for a second person, the oldest first, at most ${listLimit}.`,
    options: { limit: limitOption(listLimit) },
    examples: [{ line: 'adjustments pending', description: 'with the id for approve and reject' }],
    changesData: false,
    async run({ database, values }) {
      const requests = await listPendingRequests(database, null, Number(values.limit ?? listLimit))
      const typed = await withTypedBy(database, requests)
      const shown = requests.map((each, place) => ({ ...each, requestedBy: typed[place]?.typedBy ?? each.requestedBy }))
      return withCustomerNames(database, shown)
    },
  },
  {
    name: 'adjustments approve',
    summary: 'Approves the request of another person: the credits move now.',
    details: ['It counts in the limit of the person who approves, as of one who grants.'],
    arguments: [requestArgument],
    examples: [
      { line: `adjustments approve ${sampleId} --by kim`, description: 'kim is not the one who requested it' },
    ],
    changesData: true,
    check: checkId,
    findSubject: customerOfRequest,
    confirm: confirmApproval,
    async run(call) {
      const {
        payments,
        values,
        positionals: [id = ''],
      } = call
      const { perDay } = await limitsOfPerson(call)
      return approvePending(await payments(), id.toLowerCase(), personOf(values), perDay)
    },
  },
  {
    name: 'adjustments reject',
    summary: 'Rejects a request: nothing moves.',
    arguments: [requestArgument],
    options: { reason: reasonOption('the reason, for the action log') },
    examples: [
      {
        line: `adjustments reject ${sampleId} --reason "granted already"`,
        description: 'also for the one who requested it',
      },
    ],
    changesData: true,
    check: checkId,
    findSubject: customerOfRequest,
    run: ({ database, values, positionals: [id = ''] }) => reject(database, id.toLowerCase(), personOf(values)),
  },
]
