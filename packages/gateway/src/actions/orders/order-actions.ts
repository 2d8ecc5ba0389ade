// Orders: list, search, show, cancel, refund.
import {
  Failure,
  maxAttachLength,
  maxReferCaptureNoLength,
  orderStatuses,
  refundStatuses,
  toDecimalText,
} from '@tillgate/protocol'
import { refundableMinor } from '../../core/orders/refunds/rules/refund.ts'
import { isHeld, type Order } from '../../core/orders/rules/order.ts'
import type { OrderDetails } from '../../finance/overview/show-order.ts'
import { isCreditorReference } from '../../finance/rails/rules/transfer-account.ts'
import { type Action, defineAction, defineSharedAction, form } from '../action.ts'
import {
  amount,
  count,
  described,
  displayed,
  list,
  object,
  oneOf,
  optional,
  text,
  timeMs,
} from '../fields.ts'
import { currency, defaultLimit, limit, merchantId, nextLook, paymentId, reason } from '../shared-fields.ts'

const statuses = Object.keys(orderStatuses) as (keyof typeof orderStatuses)[]
const refundStates = Object.keys(refundStatuses) as (keyof typeof refundStatuses)[]
const page = '/orders/:merchantId/:paymentId'
const key = object('Which order.', { merchantId, paymentId })
const order = {
  merchantId,
  paymentId,
  orderNo: text('The merchant’s order number.', { max: 64 }),
  status: oneOf('The order’s status.', statuses),
  paymentAmount: amount('The amount to pay.'),
  refundedAmount: amount('The refunded amount.'),
  currency,
  createdAtMs: timeMs('When it was created.'),
  completedAtMs: optional(timeMs('When it reached its final status.')),
  transactionId: optional(text('The payment’s transactionId.', { max: 30 })),
}
const listed = object('An order.', { ...order, merchantName: text('The merchant’s name.', { max: 256 }) })
const refund = object('A refund.', {
  refundId: text('The refund’s ID.', { max: 32 }),
  referRefundNo: text('The requester’s refund number.', { max: 64 }),
  status: oneOf('The refund’s status.', refundStates),
  refundAmount: amount('The refunded amount.'),
  currency,
  reason: optional(text('The reason.', { min: 0, max: 256 })),
  message: optional(text('Reason of a failure.', { max: 1024 })),
  createdAtMs: timeMs('When it was requested.'),
  completedAtMs: optional(timeMs('When it ended.')),
})
const details = object('An order with all details.', {
  ...order,
  merchantName: optional(text('The merchant’s name.', { max: 256 })),
  channel: oneOf('The channel.', ['WEB', 'APP']),
  expiresAtMs: timeMs('Expiry of the order.'),
  message: optional(text('Why the payment failed, or why an operator cancelled the order.', { max: 1024 })),
  walletId: optional(text('The wallet that paid.', { max: 64 })),
  callbackUrl: optional(text('The callback URL.', { max: 2048 })),
  redirectUrl: optional(text('Where the consumer returns after payment.', { max: 2048 })),
  cancelUrl: optional(
    text('The address to which a consumer returns after leaving a pending order.', { max: 2048 }),
  ),
  attach: optional(text('The merchant’s own data.', { max: maxAttachLength })),
  changes: list(
    'Every status change, oldest first.',
    object('A change.', {
      from: oneOf('Before.', statuses),
      to: oneOf('After.', statuses),
      actor: text('The actor.', { max: 64 }),
      changedAtMs: timeMs('The time.'),
    }),
  ),
  refunds: list('Oldest first.', refund),
  transfers: list(
    'Ledger transfers, oldest first.',
    object('A transfer.', {
      transferId: text('The transfer’s ID.', { max: 30 }),
      kind: text('The purpose.', { max: 32 }),
      phase: text('hold, post, void or direct.', { max: 32 }),
      debitAccountId: text('The debit account.', { max: 256 }),
      creditAccountId: text('The credit account.', { max: 256 }),
      amount: amount('The amount.'),
      currency,
      madeAtMs: timeMs('The time.'),
    }),
  ),
  callbackCount: count('Number of callbacks; /callbacks lists them.'),
})

export const orderActions: readonly Action[] = [
  defineAction({
    name: 'order.list',
    command: false,
    scope: 'orders:read',
    summary: 'List orders, newest first',
    input: object('Which orders.', {
      merchantId: optional(merchantId),
      status: optional(oneOf('Only with this status.', statuses)),
      currency: optional(currency),
      sinceMs: optional(timeMs('Created at this time or later.')),
      untilMs: optional(timeMs('Created before this time.')),
      before: optional(described('Only orders older than this one.', paymentId)),
      limit,
    }),
    answer: object('A page.', {
      orders: list('Newest first.', listed),
      older: optional(text(nextLook, { max: 32 })),
    }),
    async run({ operations, context, input }) {
      const { before, limit: wanted = defaultLimit, ...filter } = input
      const { orders, next } = await operations.orders.listOrders(context, filter, { before, limit: wanted })
      return { orders: orders.map(withAmounts), older: next }
    },
  }),
  defineAction({
    name: 'order.search',
    command: false,
    scope: 'orders:read',
    summary:
      'Find orders by paymentId, orderNo, transactionId, refundId, referRefundNo, or the start of attach',
    input: object('The search text.', { number: text('The complete number.', { max: 64 }) }),
    answer: object('The matches.', { orders: list('At most 50, newest first.', listed) }),
    run: async ({ operations, context, input }) => ({
      orders: (await operations.orders.search(context, input.number)).map(withAmounts),
    }),
  }),
  defineAction({
    name: 'order.show',
    command: false,
    scope: 'orders:read',
    summary: 'Show an order: changes, refunds, ledger transfers',
    params: key,
    answer: details,
    async run({ operations, context, params }) {
      const found = await operations.showOrder(context, params)
      if (!found) throw new Failure('order_not_found')
      const { merchant, refunds, transfers, callbacks } = found
      return {
        ...withAmounts(found.order),
        merchantName: merchant?.name,
        changes: found.changes,
        refunds: refunds.map((each) => ({ ...each, refundAmount: amountOf(each) })),
        transfers: transfers.map((each) => ({ ...each, amount: amountOf(each) })),
        callbackCount: callbacks.length,
      }
    },
  }),
  defineSharedAction({
    name: 'order.cancel',
    scope: 'orders:act',
    summary: 'Cancel an unpaid order',
    params: key,
    input: object('The reason.', {
      reason: displayed(reason, { label: 'Reason (shown to the merchant)' }),
    }),
    answer: object('The order.', { paymentId, status: oneOf('The new status.', statuses) }),
    form: form<OrderDetails>({
      place: 'order',
      page,
      label: 'Cancel…',
      explains: 'The order can no longer be paid. The merchant gets a callback with your reason.',
      button: 'Cancel order',
      isDangerous: true,
      isOffered: ({ order: { status } }) => status === 'pending',
    }),
    portal: [
      {
        roles: ['owner', 'finance'],
        name: 'cancel',
        page: '/orders/:paymentId',
        isDangerous: true,
      },
    ],
    async run({ operations, context, params, input }) {
      await operations.orders.cancelOrder(context, params, input.reason)
      return { paymentId: params.paymentId, status: 'cancelled' as const }
    },
    reply: () => ({ text: 'The order is cancelled and can no longer be paid.' }),
  }),
  defineSharedAction({
    name: 'order.capture',
    scope: 'orders:act',
    summary: 'Capture an authorized order, fully or in part, once per referCaptureNo',
    params: key,
    input: object('The capture.', {
      referCaptureNo: text(
        'Your number for the capture. A repeat with the same content does not capture again.',
        { max: maxReferCaptureNoLength },
      ),
      amount: amount(
        'The amount, in the order’s currency. To capture everything, enter the full remaining amount.',
      ),
    }),
    answer: object('The capture.', {
      paymentId,
      status: oneOf('The order’s status.', statuses),
      transactionId: text('The capture’s transactionId.', { max: 30 }),
    }),
    form: form<OrderDetails>({
      place: 'order',
      page,
      label: 'Capture…',
      explains: ({ order: of }) =>
        `The money goes from the consumer’s wallet to the merchant. You can capture up to ${leftOf(of)} ${of.currency}.`,
      button: 'Capture',
      hidden: ['referCaptureNo'],
      isOffered: ({ order: of }) => isHeld(of),
    }),
    portal: [
      {
        roles: ['owner', 'finance'],
        name: 'capture',
        page: '/orders/:paymentId',
        hidden: ['referCaptureNo'],
      },
    ],
    async run({ operations, context, params, input }) {
      const { status, transactionId } = await operations.orders.captureOrder(context, params, input)
      return { paymentId: params.paymentId, status, transactionId }
    },
    reply: (_answer, { input }) => ({ text: `${input.amount} captured.` }),
  }),
  defineSharedAction({
    name: 'order.release',
    scope: 'orders:act',
    summary: 'Release the uncaptured part of an authorization',
    params: key,
    input: object('The reason.', { reason }),
    answer: object('The order.', { paymentId, status: oneOf('The order’s status.', statuses) }),
    form: form<OrderDetails>({
      place: 'order',
      page,
      label: 'Release…',
      explains: ({ order: of }) =>
        `${leftOf(of)} ${of.currency} becomes available in the consumer’s wallet again and can no longer be captured.`,
      button: 'Release',
      isDangerous: true,
      isOffered: ({ order: of }) => isHeld(of),
    }),
    portal: [
      {
        roles: ['owner', 'finance'],
        name: 'release',
        page: '/orders/:paymentId',
        isDangerous: true,
      },
    ],
    async run({ operations, context, params, input }) {
      const { status } = await operations.orders.releaseOrder(context, params, input.reason)
      return { paymentId: params.paymentId, status }
    },
    reply: () => ({ text: 'The remaining amount was released.' }),
  }),
  defineSharedAction({
    name: 'order.refund',
    scope: 'orders:act',
    summary: 'Refund an order, fully or in part, once per referRefundNo',
    params: key,
    input: object('The refund.', {
      referRefundNo: text(
        'Your number for the refund. A repeat with the same content does not refund again.',
        {
          max: 64,
        },
      ),
      amount: amount('The amount, in the order’s currency.'),
      reason: optional(displayed(reason, { label: 'Reason (optional)' })),
    }),
    answer: object('The accepted refund.', {
      refund: object('The refund.', {
        refundId: text('The refund’s ID.', { max: 32 }),
        status: oneOf('Its result follows later.', refundStates),
      }),
    }),
    form: form<OrderDetails>({
      place: 'order',
      page,
      label: 'Refund…',
      explains: (details) =>
        `The money goes from the merchant’s balance ${refundTarget(details)}. You can refund up to ${leftOf(details.order)} ${details.order.currency}. The merchant gets a callback.`,
      button: 'Refund',
      isDangerous: true,
      hidden: ['referRefundNo'],
      isOffered: ({ order: of }) => of.status === 'success' && Number(leftOf(of)) > 0,
    }),
    portal: [
      {
        roles: ['owner', 'finance'],
        name: 'refund',
        page: '/orders/:paymentId',
        hidden: ['referRefundNo'],
        isDangerous: true,
      },
    ],
    run: async ({ operations, context, params, input }) => ({
      refund: await operations.orders.refundOrder(context, params, input),
    }),
    reply: ({ refund }, { input }) => ({
      text: `Refund ${refund.refundId} of ${input.amount} is pending. The merchant gets a callback with the result.`,
    }),
  }),
]

/**
 * The destination of a refund: the consumer's wallet, the rail that collected the payment, or a bank account by manual
 * transfer.
 */
function refundTarget({ order: { railId, walletId }, attempts, transferEntries }: OrderDetails): string {
  if (walletId !== undefined) return 'to the wallet that paid'
  const isByTransfer = attempts.some(
    ({ railId: by, reference }) => by === railId && reference !== undefined && isCreditorReference(reference),
  )
  if (!isByTransfer) return `back through the rail ${railId}, to the consumer’s payment method`
  const payers = new Set(
    transferEntries.flatMap(({ direction, party }) => (direction === 'in' && party ? [party] : [])),
  )
  const [payer = 'the consumer’s bank account'] = payers
  return `to ${payers.size > 1 ? 'the consumer’s bank account' : payer}, by a bank transfer that you make and then record`
}

/** The amount that can still be captured of an authorized order, or refunded of a paid one. */
export function leftOf(of: Order): string {
  if (of.authorization && isHeld(of))
    return toDecimalText(of.authorization.authorizedMinor - of.authorization.capturedMinor, of.currency)
  return toDecimalText(refundableMinor(of), of.currency)
}

function withAmounts<Listed extends Pick<Order, 'paymentAmountMinor' | 'refundedMinor' | 'currency'>>(
  of: Listed,
) {
  return {
    ...of,
    paymentAmount: toDecimalText(of.paymentAmountMinor, of.currency),
    refundedAmount: toDecimalText(of.refundedMinor, of.currency),
  }
}

function amountOf({ amountMinor, currency: code }: { amountMinor: bigint; currency: string }): string {
  return toDecimalText(amountMinor, code)
}
