// Bank transfers: the account that consumers pay to, and manual records of what the bank booked.
import {
  Failure,
  refundIdPattern,
  refundStatuses,
  toDecimalText,
  toPositiveMinorUnits,
} from '@tillgate/protocol'
import type { Refund } from '../../core/orders/refunds/rules/refund.ts'
import type { Order } from '../../core/orders/rules/order.ts'
import type { TransferOutcome } from '../../finance/rails/record-transfers.ts'
import type { Attempt } from '../../finance/rails/rules/attempt.ts'
import type { OutsideRail } from '../../finance/rails/rules/outside-rail.ts'
import { type BankAccount, isCreditorReference } from '../../finance/rails/rules/transfer-account.ts'
import { bankNamePattern, mainBank } from '../../finance/treasury/rules/operator-bank-account.ts'
import { type Action, defineAction, form } from '../action.ts'
import {
  amount,
  day,
  displayed,
  matching,
  object,
  oneOf,
  optional,
  text,
  visibleCharacters,
} from '../fields.ts'
import { merchantId, money, moneyChecks, moneyOf, paymentId, reason, shownOrder } from '../shared-fields.ts'
import {
  accountFields,
  currencies,
  extras,
  name,
  noExtras,
  railAnswer,
  railChecks,
  railId,
  railKey,
  settingsOf,
  splitName,
  toAnswer,
} from './rail-actions.ts'

/** An order's bank transfers at one rail, for the order's page. */
export interface HeldTransfer {
  readonly order: Order
  readonly railId: string
  readonly heldMinor: bigint
}

/** A refund, and whether it is paid by bank transfer. */
export interface RefundByTransfer {
  readonly refund: Refund
  readonly isByTransfer: boolean
}

const page = '/rails/:railId'
const orderPage = '/orders/:merchantId/:paymentId'
const bank = optional(
  displayed(
    matching('The bank account that the entry is on; by default, the one with the rail’s IBAN.', {
      regexp: bankNamePattern,
      expected: 'the name of a bank account',
    }),
    { label: 'Your bank account', placeholder: mainBank },
  ),
)
const bankEntry = {
  outsideReference: displayed(
    text('The bank’s reference of the entry, as in its statement. Each reference counts once.', {
      max: 140,
      pattern: visibleCharacters,
    }),
    { label: 'Bank’s reference' },
  ),
  valueDate: day('The value date of the bank’s entry.'),
  party: optional(
    displayed(text('The counterparty and its account.', { max: 256, pattern: visibleCharacters }), {
      label: 'Counterparty',
    }),
  ),
  bank,
}
const refundId = matching('The refund’s ID.', { regexp: refundIdPattern, expected: 'a refundId' })
const orderFields = {
  merchantId,
  paymentId,
  status: text('The order’s status.', { max: 32 }),
  held: amount('Money in suspense for the order.'),
}
const outcome = object('The order, and its money in suspense.', orderFields)

export const transferActions: readonly Action[] = [
  defineAction({
    name: 'rail.add-transfer',
    scope: 'rails:manage',
    summary: 'Accept bank transfers to one of your accounts',
    input: object('The rail.', { railId, name, currencies, ...accountFields, ...extras, reason }),
    checks: railChecks,
    answer: railAnswer,
    form: {
      place: 'rails',
      path: '/rails/transfer',
      page: '/rails',
      label: 'Add bank transfer…',
      explains:
        'The checkout offers bank transfer within 5 seconds, and shows the account, the amount and a reference. Record received transfers, or import statements.',
      button: 'Add rail',
      needsConfirmation: true,
    },
    async run({ operations, context, input }) {
      const { railId: id, reason: why, holder, iban, bic, lines, ...given } = input
      const account = accountOf({ holder, iban, bic, lines })
      const settings = { ...noExtras, ...settingsOf(given), account }
      return toAnswer(await operations.rails.addTransferRail(context, id, settings, why))
    },
    reply: ({ railId: id, name: called }) => ({
      text: `The checkout offers ${called} within 5 seconds.`,
      page: `/rails/${id}`,
    }),
  }),
  defineAction({
    name: 'rail.change-account',
    scope: 'rails:manage',
    summary: 'Change the account for bank transfers',
    params: railKey,
    input: object('The complete account.', { ...accountFields, reason }),
    answer: railAnswer,
    form: form<OutsideRail>({
      place: 'rail',
      path: `${page}/account`,
      page,
      label: 'Change account…',
      explains:
        'New payments show this account. Consumers who have already started still see the previous one.',
      button: 'Change account',
      isDangerous: true,
      isOffered: ({ account }) => account !== undefined,
      needsConfirmation: true,
    }),
    run: async ({ operations, context, params, input: { reason: why, ...given } }) =>
      toAnswer(await operations.rails.changeAccount(context, params.railId, accountOf(given), why)),
    reply: () => ({ text: 'The account was changed. The change applies within 5 seconds.' }),
  }),
  defineAction({
    name: 'transfer.confirm',
    scope: 'money:move',
    summary: 'Record a received bank transfer. It pays its order if the amount is sufficient',
    params: railKey,
    input: object('The bank’s booking.', {
      reference: displayed(text('The creditor reference from the transfer, or the paymentId.', { max: 64 }), {
        placeholder: 'RF18 …',
      }),
      ...money,
      ...bankEntry,
      ...shownOrder,
      reason,
    }),
    checks: moneyChecks,
    pin: ({ operations, context, params, input }) =>
      operations.transfers.findPaidBy(context, params.railId, input.reference),
    answer: object('The order.', orderFields),
    forms: [
      form<OutsideRail>({
        ...confirmForm('rail', `${page}/transfers`, page),
        isOffered: ({ account }) => account !== undefined,
      }),
      form<Attempt>({
        ...confirmForm('attempt', `${orderPage}/transfers/:railId`, orderPage),
        isOffered: ({ reference }) => reference !== undefined && isCreditorReference(reference),
      }),
    ],
    async run({ operations, context, params, input }) {
      const receipt = { ...input, bankName: input.bank, ...moneyOf(input) }
      return toOutcome(await operations.transfers.confirmTransfer(context, params.railId, receipt))
    },
    reply: ({ status, held, merchantId: merchant, paymentId: payment }) => ({
      text: `The transfer was recorded. The order is ${status}; ${held} is in suspense for it.`,
      page: `/orders/${merchant}/${payment}`,
    }),
  }),
  defineAction({
    name: 'transfer.return',
    scope: 'money:move',
    summary: 'Record the return of a bank transfer from suspense',
    params: object('The order and the rail.', { merchantId, paymentId, railId }),
    input: object('The bank’s booking.', {
      amount: displayed(amount('The amount, in the order’s currency.'), { placeholder: '12.50' }),
      ...bankEntry,
      reason,
    }),
    answer: outcome,
    form: form<HeldTransfer>({
      place: 'held-transfer',
      path: `${orderPage}/transfers/:railId/return`,
      page: orderPage,
      label: 'Record a return…',
      explains: ({ heldMinor, order: { currency } }) =>
        `First make the transfer at your bank. ${toDecimalText(heldMinor, currency)} ${currency} is in suspense for this order.`,
      button: 'Record return',
      isDangerous: true,
      isOffered: ({ heldMinor }) => heldMinor > 0n,
    }),
    async run({ operations, context, params: { railId: id, ...key }, input }) {
      const amountOf = ({ currency }: Order) => toPositiveMinorUnits(input.amount, currency, 'amount')
      const returned = operations.transfers.returnTransfer(context, id, key, {
        ...input,
        bankName: input.bank,
        amount: amountOf,
      })
      return toOutcome(await returned)
    },
    reply: ({ held }) => ({ text: `The return was recorded. ${held} is in suspense for the order.` }),
  }),
  defineAction({
    name: 'transfer.settle-refund',
    scope: 'money:move',
    summary: 'Record that a refund by bank transfer was sent, or that it cannot be sent',
    params: object('Which refund.', { merchantId, refundId }),
    input: object('The result.', {
      outcome: displayed(oneOf('Whether the refund was sent.', ['sent', 'failed']), {
        initial: 'sent',
        choices: [
          ['sent', 'sent'],
          ['failed', 'cannot be sent: the money stays with the merchant'],
        ],
      }),
      outsideReference: optional(bankEntry.outsideReference),
      valueDate: optional(bankEntry.valueDate),
      party: bankEntry.party,
      bank,
      reason,
    }),
    answer: object('The refund.', {
      refundId,
      status: oneOf('The refund’s status.', Object.keys(refundStatuses) as (keyof typeof refundStatuses)[]),
    }),
    form: form<RefundByTransfer>({
      place: 'refund',
      path: `${orderPage}/refunds/:refundId/settle`,
      page: orderPage,
      label: 'Record refund…',
      explains: 'First make the transfer at your bank. The merchant gets a callback with the result.',
      button: 'Record refund',
      isDangerous: true,
      isOffered: ({ refund, isByTransfer }) => isByTransfer && refund.status === 'refunding',
    }),
    async run({ operations, context, params, input: { outcome: became, reason: why, ...given } }) {
      const { outsideReference, valueDate, party, bank: bankName } = given
      const settle = operations.transfers.settleRefund
      if (became === 'failed') {
        await settle(context, params, { sent: undefined, reason: why })
        return { refundId: params.refundId, status: 'refund_failed' as const }
      }
      if (outsideReference === undefined || valueDate === undefined) throw missingEntry()
      await settle(context, params, { sent: { outsideReference, valueDate, party, bankName }, reason: why })
      return { refundId: params.refundId, status: 'refund_success' as const }
    },
    reply: ({ status }) => ({ text: `The result was recorded: ${status}. The merchant gets a callback.` }),
  }),
]

function confirmForm(place: string, path: string, on: string) {
  return {
    place,
    path,
    page: on,
    label: 'Record a transfer…',
    explains:
      'The order is paid once enough money has arrived. A smaller amount waits for the rest; an excess or late amount stays in suspense until you return it.',
    button: 'Record transfer',
  } as const
}

function missingEntry(): Failure {
  return new Failure('invalid_field', {
    field: 'outsideReference',
    message: 'Enter the bank’s reference and the value date of your transfer.',
  })
}

function accountOf(given: {
  readonly holder: string
  readonly iban?: string | undefined
  readonly bic?: string | undefined
  readonly lines?: readonly string[] | undefined
}): BankAccount {
  const lines = (given.lines ?? []).map(splitName).map(([label, value]) => ({ label, value }))
  return { ...given, lines }
}

function toOutcome({ order, heldMinor }: TransferOutcome) {
  const { merchantId: merchant, paymentId: payment, status, currency } = order
  const held = toDecimalText(heldMinor, currency)
  return { merchantId: merchant, paymentId: payment, status, held }
}
