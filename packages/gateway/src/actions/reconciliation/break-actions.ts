// Breaks: mismatches, their owners, and their resolution. Resolutions that move money may need a second operator.
import { toDecimalText } from '@tillgate/protocol'
import {
  type Break,
  breakMeanings,
  decidedBreak,
  isOpen,
  isUnbooked,
  mayAccept,
  mayBookAs,
  mayConfirm,
  mayPair,
  mayPark,
  mayWriteOff,
  ownBookings,
  resolutions,
  returnReference,
} from '../../finance/reconciliation/rules/break.ts'
import { breakKinds } from '../../finance/reconciliation/rules/match.ts'
import { type Action, type ActionCall, defineAction, form } from '../action.ts'
import {
  amount,
  day,
  displayed,
  integer,
  list,
  object,
  oneOf,
  optional,
  text,
  timeMs,
  visibleCharacters,
  yesNo,
} from '../fields.ts'
import { currency, limit, reason, shownOrder, uuid } from '../shared-fields.ts'
import { outsideAccount } from './statement-actions.ts'

const key = object('Which break.', { breakId: uuid('The break’s ID.') })
const owner = displayed(text('An operator’s login.', { max: 320, pattern: visibleCharacters }), {
  label: 'Owner’s login',
  suggests: 'operators',
})
const shown = {
  breakId: uuid('The break’s ID.'),
  account: outsideAccount,
  kind: oneOf('The kind of mismatch.', breakKinds),
  currency,
  amount: amount('The unexplained amount: statement minus books.'),
  size: amount('The amount of the line or transfer.'),
  day: day('The day of the line or of the transfer.'),
  foundAtMs: timeMs('When it was found.'),
  owner: optional(owner),
  reference: optional(text('The statement’s reference.', { max: 200 })),
  party: optional(text('The counterparty in the statement.', { max: 500 })),
  partyIban: optional(text('The counterparty’s account in the statement.', { max: 34 })),
  description: optional(text('The remittance text in the statement.', { max: 500 })),
  transferId: optional(text('The reference in the books.', { max: 64 })),
  returnReference: optional(text('The required reference of a return transfer to the sender.', { max: 35 })),
  resolution: optional(oneOf('The resolution.', resolutions)),
  resolvedAtMs: optional(timeMs('When it was resolved.')),
  resolvedBy: optional(text('Who resolved it.', { max: 400 })),
}
const page = '/reconciliation/breaks/:breakId'
const answer = object('The break.', shown)
/** A waiting request applies to the break as it was when requested. */
const pinned = {
  amount: optional(
    amount('The unexplained amount that you expect. If the amount has changed, the action is rejected.'),
  ),
  party: optional(
    displayed(
      text(
        'The counterparty and the account that you expect. If they have changed, the action is rejected.',
        {
          max: 600,
        },
      ),
      { label: 'Counterparty' },
    ),
  ),
}

export const breakActions: readonly Action[] = [
  defineAction({
    name: 'reconcile.list',
    scope: 'reconciliation:read',
    summary: 'List breaks, oldest first, then largest',
    input: object('The filter.', {
      status: optional(oneOf('`open` by default.', ['open', 'resolved'] as const)),
      account: optional(outsideAccount),
      kind: optional(oneOf('Only of this kind.', breakKinds)),
      owner: optional(owner),
      skip: optional(integer('Number of results to skip.', { min: 0, max: 1_000_000 })),
      limit,
    }),
    answer: object('A page.', { breaks: list('Oldest first, then largest.', object('A break.', shown)) }),
    command: {
      columns: [
        'breakId',
        'account',
        'kind',
        'size',
        'amount',
        'currency',
        'day',
        'party',
        'description',
        'owner',
      ],
    },
    async run({ operations, context, input }) {
      const { status = 'open', account, kind, owner: of, skip = 0, limit: wanted = 50 } = input
      const found = await operations.reconciliation.breaks.listBreaks(
        context,
        { status, account, kind, owner: of },
        { skip, limit: wanted },
      )
      return { breaks: found.map(toAnswer) }
    },
  }),
  defineAction({
    name: 'reconcile.show',
    scope: 'reconciliation:read',
    summary: 'Show a break with its notes',
    params: key,
    answer: object('A break.', {
      ...shown,
      meaning: text('The meaning of its kind.', { max: 200 }),
      notes: list(
        'Oldest first.',
        object('A note.', {
          actor: text('The author.', { max: 400 }),
          notedAtMs: timeMs('The time.'),
          text: text('The text.', { max: 1_000 }),
        }),
      ),
    }),
    async run({ operations, context, params }) {
      const { found, notes } = await operations.reconciliation.breaks.showBreak(context, params.breakId)
      return { ...toAnswer(found), meaning: breakMeanings[found.kind], notes: [...notes] }
    },
  }),
  defineAction({
    name: 'reconcile.assign',
    scope: 'reconciliation:act',
    summary: 'Assign a break to an operator. Without an operator, unassign it',
    params: key,
    input: object('The owner.', { owner: optional(owner), reason }),
    answer,
    form: form<Break>({
      place: 'break',
      path: `${page}/owner`,
      page,
      label: 'Assign…',
      explains: 'Leave empty to unassign.',
      button: 'Assign',
      isOffered: isOpen,
    }),
    run: async ({ operations, context, params, input }) =>
      toAnswer(
        await operations.reconciliation.breaks.assign(context, params.breakId, input.owner, input.reason),
      ),
    reply: ({ owner: of }) => ({
      text: of === undefined ? 'The break is unassigned.' : `The break is assigned to ${of}.`,
    }),
  }),
  defineAction({
    name: 'reconcile.note',
    scope: 'reconciliation:act',
    summary: 'Add a note to a break',
    params: key,
    input: object('The note.', { note: text('The note.', { max: 256, pattern: visibleCharacters }) }),
    answer: object('The result.', { isNoted: yesNo('True.') }),
    form: {
      place: 'break',
      path: `${page}/notes`,
      page,
      label: 'Add note…',
      explains: 'Notes are visible to all operators and cannot be removed.',
      button: 'Add note',
    },
    async run({ operations, context, params, input }) {
      await operations.reconciliation.breaks.note(context, params.breakId, input.note)
      return { isNoted: true }
    },
    reply: () => ({ text: 'The note was added.' }),
  }),
  defineAction({
    name: 'reconcile.accept',
    scope: 'reconciliation:act',
    summary: 'Accept a break that is fully explained',
    params: key,
    input: object('The reason.', { reason }),
    answer,
    form: form<Break>({
      place: 'break',
      page,
      label: 'Accept…',
      explains: (found) =>
        isUnbooked(found)
          ? 'Neither the bank nor the books contain this transfer yet. No money moves.'
          : 'The books contain this money and agree with the statement. No money moves.',
      button: 'Accept',
      isOffered: mayAccept,
    }),
    run: async ({ operations, context, params, input }) =>
      toAnswer(await operations.reconciliation.breaks.accept(context, params.breakId, input.reason)),
    reply: () => ({ text: 'The break is resolved.' }),
  }),
  defineAction({
    name: 'reconcile.pair',
    scope: 'reconciliation:act',
    summary: 'Pair a line with the break that it explains',
    params: key,
    input: object('The other break.', {
      otherBreakId: displayed(uuid('The break of a booked transfer that is missing on the statement.'), {
        option: 'other',
        label: 'Break that this line explains',
        suggests: 'breaks',
      }),
      reason,
    }),
    answer,
    form: form<Break>({
      place: 'break',
      page,
      label: 'Pair…',
      explains:
        'This line and the transfer of the other break are the same transaction. Both breaks are resolved, and no money moves.',
      button: 'Pair',
      isOffered: mayPair,
    }),
    run: async ({ operations, context, params, input }) =>
      toAnswer(
        await operations.reconciliation.breaks.pair(
          context,
          params.breakId,
          input.otherBreakId,
          input.reason,
        ),
      ),
    reply: () => ({ text: 'Both breaks are resolved.' }),
  }),
  defineAction({
    name: 'reconcile.confirm',
    scope: 'money:move',
    summary: 'Book a line as money for an order, a payout, or a settlement',
    params: key,
    input: object('The kind of booking.', {
      reference: optional(
        displayed(
          text('For money of an order: its reference or paymentId; by default the one in the line.', {
            max: 64,
          }),
          { label: 'Order reference or paymentId' },
        ),
      ),
      transferId: optional(
        displayed(
          text('The payout or rail batch that you expect the line to be booked for.', {
            max: 200,
          }),
          { label: 'Booked for' },
        ),
      ),
      fee: optional(
        displayed(amount('The rail’s fee that you expect to be booked.'), { label: 'Rail’s fee' }),
      ),
      ...pinned,
      ...shownOrder,
      reason,
    }),
    pin: async (call) => ({
      ...(await pinBreak(call)),
      ...(await call.operations.reconciliation.breaks.describeBooking(
        call.context,
        call.params.breakId,
        call.input,
      )),
    }),
    // The booking of the line decides which of these effects apply.
    effects: ['credits a merchant', 'sends money out'],
    answer,
    form: form<Break>({
      place: 'break',
      page,
      label: 'Book…',
      fields: ['reference', 'reason'],
      explains: ({ kind, item }) =>
        item?.kind === 'settlement'
          ? 'The received amount is booked as the rail’s settlement, and the missing amount as its fee.'
          : kind === 'missing_here'
            ? 'Books the money for the order that you enter, or for the order in the line. If the money cannot pay the order, it stays in suspense for the order.'
            : 'The payout or refund is booked with its own amount. The difference becomes a separate break.',
      button: 'Book',
      isOffered: mayConfirm,
    }),
    run: async ({ operations, context, params, input }) =>
      toAnswer(await operations.reconciliation.breaks.confirm(context, params.breakId, input)),
    reply: () => ({ text: 'The line is booked.' }),
  }),
  defineAction({
    name: 'reconcile.book-as',
    scope: 'money:move',
    summary:
      'Book a line, or its difference, as a bank charge, interest, or the owner’s deposit or withdrawal',
    params: key,
    input: object('The kind of booking.', {
      as: displayed(oneOf('The kind of booking.', ownBookings), {
        choices: [
          ['bank_charge', 'a bank charge, or a refunded charge'],
          ['interest', 'interest, or negative interest'],
          ['owner_deposit', 'the owner’s deposit'],
          ['owner_withdrawal', 'the owner’s withdrawal'],
        ],
      }),
      ...pinned,
      reason,
    }),
    pin: pinBreak,
    answer,
    isOnce: true,
    form: form<Break>({
      place: 'break',
      page,
      label: 'Book as…',
      fields: ['as', 'reason'],
      explains: ({ amountMinor, currency: code }) =>
        `${toDecimalText(amountMinor < 0n ? -amountMinor : amountMinor, code)} ${code} ${amountMinor < 0n ? 'went out' : 'came in'}. The line is booked as the type that you choose. The books then agree with the statement.`,
      button: 'Book',
      isOffered: mayBookAs,
      needsConfirmation: true,
    }),
    run: async ({ operations, context, params, input, idempotencyKey }) =>
      toAnswer(
        await operations.reconciliation.breaks.bookAs(context, params.breakId, { ...input, idempotencyKey }),
      ),
    reply: (_, { input }) => ({ text: `The line is booked as ${input.as.replace('_', ' ')}.` }),
  }),
  defineAction({
    name: 'reconcile.park',
    scope: 'money:move',
    summary: 'Park unknown money of a bank account in suspense until its owner is found',
    params: key,
    input: object('The reason.', { ...pinned, reason }),
    pin: pinBreak,
    answer,
    isOnce: true,
    form: form<Break>({
      place: 'break',
      page,
      label: 'Park in suspense…',
      fields: ['reason'],
      explains:
        'The money is in the books without an owner. Release it or write it off under Money > Corrections.',
      button: 'Park in suspense',
      isOffered: mayPark,
    }),
    run: async ({ operations, context, params, input, idempotencyKey }) =>
      toAnswer(
        await operations.reconciliation.breaks.park(context, params.breakId, { ...input, idempotencyKey }),
      ),
    reply: () => ({ text: 'The money is in suspense.' }),
  }),
  defineAction({
    name: 'reconcile.return',
    scope: 'money:move',
    summary: 'Return unknown money to its sender',
    params: key,
    input: object('The reason.', { ...pinned, reason }),
    pin: pinBreak,
    answer,
    isOnce: true,
    form: form<Break>({
      place: 'break',
      page,
      label: 'Return to sender…',
      fields: ['reason'],
      explains: (found) =>
        `${sentBack(found)} The books record the return now, and the line of your transfer is matched with it.`,
      button: 'Record return',
      isOffered: mayPark,
      needsConfirmation: true,
    }),
    async run({ operations, context, params, input, idempotencyKey }) {
      const { breaks } = operations.reconciliation
      return toAnswer(await breaks.returnToSender(context, params.breakId, { ...input, idempotencyKey }))
    },
    reply: ({ returnReference: reference }) => ({
      text: `The return is booked. Make the bank transfer with the reference ${reference}.`,
    }),
  }),
  defineAction({
    name: 'reconcile.write-off',
    scope: 'money:move',
    summary: 'Write off a break’s difference as a loss or a gain',
    params: key,
    input: object('The reason.', { ...pinned, reason }),
    effects: ['sends money out'],
    pin: pinBreak,
    answer,
    form: form<Break>({
      place: 'break',
      page,
      label: 'Write off…',
      fields: ['reason'],
      explains: ({ amountMinor, currency: code }) =>
        `${toDecimalText(amountMinor < 0n ? -amountMinor : amountMinor, code)} ${code} become a ${amountMinor < 0n ? 'loss' : 'gain'} of the operator. The books then agree with the statement.`,
      button: 'Write off',
      isDangerous: true,
      isOffered: mayWriteOff,
    }),
    run: async ({ operations, context, params, input }) =>
      toAnswer(await operations.reconciliation.breaks.writeOff(context, params.breakId, input)),
    reply: () => ({ text: 'The difference was written off.' }),
  }),
]

/** The step that the operator takes at the bank. */
function sentBack(found: Break): string {
  const { amountMinor, currency: code, line } = found
  const to = line?.partyIban ?? line?.party ?? 'the sender'
  return `Make a bank transfer of ${toDecimalText(amountMinor, code)} ${code} to ${to} with the reference ${returnReference(found)}.`
}

async function pinBreak({ operations, context, params }: ActionCall<{ breakId: string }>) {
  return decidedBreak((await operations.reconciliation.breaks.showBreak(context, params.breakId)).found)
}

function toAnswer(of: Break) {
  const { amountMinor, sizeMinor, currency: code, line, item } = of
  return {
    ...of,
    amount: toDecimalText(amountMinor, code),
    size: toDecimalText(sizeMinor, code),
    reference: line?.mark,
    party: line?.party,
    partyIban: line?.partyIban,
    description: line?.description,
    transferId: item?.transferId,
    returnReference: of.resolution === 'returned' ? returnReference(of) : undefined,
    resolution: of.resolution,
    resolvedAtMs: of.resolvedAtMs,
    resolvedBy: of.resolvedBy,
  }
}
