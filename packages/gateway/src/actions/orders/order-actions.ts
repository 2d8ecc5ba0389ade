// Orders: list, search, show, cancel, refund.
import { Failure, maxAttachLength, orderStatuses, refundStatuses, toDecimalText } from '@tillgate/protocol'
import type { Order } from '../../core/orders/rules/order.ts'
import type { OrderDetails } from '../../finance/overview/show-order.ts'
import { isCreditorReference } from '../../finance/rails/rules/bank-account.ts'
import { type Action, defineAction, defineSharedAction, form } from '../action.ts'
import { amount, count, displayed, list, object, oneOf, optional, text, timeMs } from '../fields.ts'
import { currency, defaultLimit, limit, merchantId, nextLook, paymentId, reason } from '../shared-fields.ts'

const statuses = Object.keys(orderStatuses) as (keyof typeof orderStatuses)[]
const refundStates = Object.keys(refundStatuses) as (keyof typeof refundStatuses)[]
const page = '/orders/:merchantId/:paymentId'
const key = object('Which order.', { merchantId, paymentId })
const order = {
  merchantId,
  paymentId,
  orderNo: text('The merchant’s own number.', { max: 64 }),
  status: oneOf('What became of it.', statuses),
  paymentAmount: amount('What is to be paid.'),
  refundedAmount: amount('What went back to the consumer.'),
  currency,
  createdAtMs: timeMs('When it was created.'),
  completedAtMs: optional(timeMs('When it came to its final status.')),
  transactionId: optional(text('Of the payment.', { max: 30 })),
}
const listed = object('An order.', { ...order, merchantName: text('The merchant’s name.', { max: 256 }) })
const refund = object('A refund.', {
  refundId: text('The refund’s number.', { max: 32 }),
  referRefundNo: text('The number of whoever asked for it.', { max: 64 }),
  status: oneOf('What became of it.', refundStates),
  refundAmount: amount('How much goes back.'),
  currency,
  reason: optional(text('Why.', { min: 0, max: 256 })),
  message: optional(text('Why it failed.', { max: 1024 })),
  createdAtMs: timeMs('When it was asked for.'),
  completedAtMs: optional(timeMs('When it ended.')),
})
const details = object('An order with everything that is known of it.', {
  ...order,
  merchantName: optional(text('The merchant’s name.', { max: 256 })),
  channel: oneOf('Where it was created.', ['WEB', 'APP']),
  expiresAtMs: timeMs('Until when it can be paid.'),
  message: optional(text('Why the payment failed, or why an operator cancelled the order.', { max: 1024 })),
  walletId: optional(text('The wallet that paid.', { max: 64 })),
  callbackUrl: optional(text('Where callbacks go.', { max: 2048 })),
  redirectUrl: optional(text('Where the consumer returns to.', { max: 2048 })),
  cancelUrl: optional(text('Where the consumer returns to while it is pending.', { max: 2048 })),
  attach: optional(text('The merchant’s own data.', { max: maxAttachLength })),
  changes: list(
    'Every change of its status, the oldest first.',
    object('A change.', {
      from: oneOf('Before.', statuses),
      to: oneOf('After.', statuses),
      actor: text('Who did it.', { max: 64 }),
      changedAtMs: timeMs('When.'),
    }),
  ),
  refunds: list('The oldest first.', refund),
  transfers: list(
    'Ledger transfers, the oldest first.',
    object('A transfer.', {
      transferId: text('Its number.', { max: 30 }),
      kind: text('What it is for.', { max: 32 }),
      phase: text('hold, post, void or direct.', { max: 32 }),
      debitAccountId: text('Where it comes from.', { max: 256 }),
      creditAccountId: text('Where it goes.', { max: 256 }),
      amount: amount('How much.'),
      currency,
      madeAtMs: timeMs('When.'),
    }),
  ),
  callbackCount: count('How many callbacks it has; /callbacks lists them.'),
})

export const orderActions: readonly Action[] = [
  defineAction({
    name: 'order.list',
    command: false,
    scope: 'orders:read',
    summary: 'Orders, the newest first',
    input: object('Which orders.', {
      merchantId: optional(merchantId),
      status: optional(oneOf('Of this status.', statuses)),
      currency: optional(currency),
      sinceMs: optional(timeMs('Created at this time or later.')),
      untilMs: optional(timeMs('Created before this time.')),
      before: optional(paymentId),
      limit,
    }),
    answer: object('A page.', {
      orders: list('The newest first.', listed),
      older: optional(text(nextLook('orders'), { max: 32 })),
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
      'Find orders by paymentId, orderNo, transactionId, refundId, referRefundNo, or how attach begins',
    input: object('What is sought.', { number: text('The whole number.', { max: 64 }) }),
    answer: object('What was found.', { orders: list('At most 50, the newest first.', listed) }),
    run: async ({ operations, context, input }) => ({
      orders: (await operations.orders.search(context, input.number)).map(withAmounts),
    }),
  }),
  defineAction({
    name: 'order.show',
    command: false,
    scope: 'orders:read',
    summary: 'One order: changes, refunds, ledger transfers',
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
    input: object('Why.', {
      reason: displayed(reason, { label: 'Reason, for the merchant and the audit' }),
    }),
    answer: object('The order.', { paymentId, status: oneOf('Its status now.', statuses) }),
    form: form<OrderDetails>({
      place: 'order',
      page,
      label: 'Cancel…',
      explains:
        'Nobody can pay this order any more. The merchant gets a callback with the reason, as it is written here.',
      button: 'Cancel the order',
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
    tell: () => ({ text: 'The order is cancelled. Nobody can pay it any more.' }),
  }),
  defineSharedAction({
    name: 'order.refund',
    scope: 'orders:act',
    summary: 'Refund an order, fully or in part, once for each referRefundNo',
    params: key,
    input: object('The refund.', {
      referRefundNo: text('A number of yours; sent again with the same content, it refunds nothing more.', {
        max: 64,
      }),
      amount: amount('How much, in the order’s currency.'),
      reason,
    }),
    answer: object('It is under way.', {
      refund: object('The refund.', {
        refundId: text('The refund’s number.', { max: 32 }),
        status: oneOf('Its result comes later.', refundStates),
      }),
    }),
    form: form<OrderDetails>({
      place: 'order',
      page,
      label: 'Refund…',
      explains: (details) =>
        `The money goes from the merchant’s wallet ${refundTarget(details)}; ${leftOf(details.order)} ${details.order.currency} can still be refunded. The merchant gets a callback.`,
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
    tell: ({ refund }, { input }) => ({
      text: `Refund ${refund.refundId} over ${input.amount} is under way. The merchant gets a callback with its result.`,
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
  if (!isByTransfer) return `back through the rail ${railId}, to whatever the consumer paid with`
  const payers = new Set(
    transferEntries.flatMap(({ direction, party }) => (direction === 'in' && party ? [party] : [])),
  )
  const [payer = 'the consumer’s bank account'] = payers
  return `to ${payers.size > 1 ? 'the consumer’s bank account' : payer}, by a bank transfer that you make and then record`
}

/** The refundable amount. */
export function leftOf(of: Order): string {
  return toDecimalText(of.paymentAmountMinor - of.refundedMinor - of.refundHeldMinor, of.currency)
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
