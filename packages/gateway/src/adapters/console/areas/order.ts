// One order: a timeline, the goods, the payment, refunds, ledger transfers, callbacks with every attempt, and the
// actions that its status allows.
import { merchantIdPattern, paymentIdPattern, toDecimalText } from '@tillgate/protocol'
import { leftOf } from '../../../actions/orders/order-actions.ts'
import type { HeldTransfer } from '../../../actions/rails/transfer-actions.ts'
import { type Capture, captureStatusOf } from '../../../core/orders/captures/rules/capture.ts'
import { returnedFeeMinor } from '../../../core/orders/fees/rules/fee.ts'
import type { Refund } from '../../../core/orders/refunds/rules/refund.ts'
import { isHeld, type Order, type OrderKey } from '../../../core/orders/rules/order.ts'
import type { OrderDetails } from '../../../finance/overview/show-order.ts'
import type { Attempt } from '../../../finance/rails/rules/attempt.ts'
import { heldMinor } from '../../../finance/rails/rules/bank-transfer.ts'
import { isCreditorReference } from '../../../finance/rails/rules/transfer-account.ts'
import { readSummary } from '../../checkout/pages/summary.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { empty, facts, number, table } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import { callbackFold } from '../callback-parts.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { orderStatus, status } from '../statuses.ts'
import { ago, amount, bankReference, moment } from '../words.ts'

const path = '/orders/:merchantId/:paymentId'

export const orderArea: readonly ConsoleRoute[] = [{ path, show }]

async function show(visit: Visit): Promise<ConsolePage | undefined> {
  const key = keyOf(visit.params)
  if (!merchantIdPattern.test(key.merchantId) || !paymentIdPattern.test(key.paymentId)) return undefined
  const details = await visit.operations.showOrder(visit.context, key)
  if (!details) return undefined
  const { order, merchant, refunds, callbacks } = details
  const { nowMs } = visit
  return {
    title: `Order ${order.orderNo}`,
    area: 'orders',
    isLive: true,
    beside: actionForms(visit, 'order', {
      subject: details,
      values: {
        ...key,
        amount: leftOf(order),
        referRefundNo: details.newRefundNumber,
        referCaptureNo: details.newRefundNumber,
      },
    }),
    content: html`<p class="total">${amount(order.paymentAmountMinor, order.currency)} ${orderStatus({ ...order, isHeld: isHeld(order) })}</p>
${order.message !== undefined && html`<p class="wrap">${order.message}</p>`}
<div class="grid"><div>
<section class="card"><h2>Payment</h2>${facts([
      ['Merchant', html`<a href="/merchants/${order.merchantId}">${merchant?.name ?? order.merchantId}</a>`],
      ['Payment ID', html`<code>${order.paymentId}</code>`],
      ['Order number', html`<span class="wrap">${order.orderNo}</span>`],
      ['Transaction ID', order.transactionId === undefined ? '—' : html`<code>${order.transactionId}</code>`],
      [
        'Paid by',
        order.walletId !== undefined
          ? html`<a href="/wallets/${order.walletId}">the wallet</a>`
          : order.railId === undefined
            ? '—'
            : html`<a href="/rails/${order.railId}">${order.railId}</a>`,
      ],
      ['Channel', order.channel],
      ...authorizationFacts(order, nowMs),
      ['Created', moment(order.createdAtMs, nowMs)],
      ['Expires', moment(order.expiresAtMs, nowMs)],
      order.completedAtMs !== undefined && (['Ended', moment(order.completedAtMs, nowMs)] as const),
      order.fee && (['Fee', amount(order.fee.amountMinor, order.currency)] as const),
      order.status === 'success' &&
        order.fee &&
        (['Net', amount(order.paymentAmountMinor - order.fee.amountMinor, order.currency)] as const),
      order.fee &&
        order.refundedMinor > 0n &&
        (['Fee returned', amount(returnedFeeMinor(order, order.refundedMinor), order.currency)] as const),
      order.refundCount > 0 && (['Refunded', amount(order.refundedMinor, order.currency)] as const),
      order.refundHeldMinor > 0n &&
        (['Refund pending', amount(order.refundHeldMinor, order.currency)] as const),
      order.disputedMinor > 0n && (['Disputed', amount(order.disputedMinor, order.currency)] as const),
      ['Callback URL', order.callbackUrl ?? '—'],
      ['Redirect URL', order.redirectUrl ?? '—'],
      order.cancelUrl !== undefined && (['Cancel URL', order.cancelUrl] as const),
      order.attach !== undefined &&
        (['Merchant’s data (attach)', html`<span class="wrap">${order.attach}</span>`] as const),
    ])}</section>
</div><div>
<section class="card"><h2>Timeline</h2>${timeline(details, nowMs)}</section>
${delivery(order)}
<section><h2>Goods</h2>${goods(order)}</section>
</div></div>
${refunds.length > 0 && html`<h2>Refunds</h2>${refundTable(visit, details)}`}
${details.attempts.length > 0 && html`<h2>Payment attempts</h2>${attemptTable(visit, details)}${callTable(details, nowMs)}`}
${heldTransfers(details).map((held) => bankTransfers(visit, details, held))}
<h2>Ledger transfers</h2>${transferTable(details, nowMs)}
<h2>Callbacks</h2>${
      callbacks.length === 0
        ? empty(
            order.callbackUrl === undefined
              ? 'The order has no callback URL.'
              : 'No callbacks yet. The first one is created when the order is paid or expires.',
          )
        : callbacks.map((callback) => callbackFold(visit, callback))
    }`,
  }
}

function authorizationFacts({ authorization, currency, ...order }: Order, nowMs: number) {
  if (!authorization) return []
  const { authorizedMinor, capturedMinor, heldUntilMs } = authorization
  const isOpen = isHeld({ ...order, authorization })
  return [
    ['Authorized', amount(authorizedMinor, currency)] as const,
    ['Captured', amount(capturedMinor, currency)] as const,
    isOpen && (['Remaining', amount(authorizedMinor - capturedMinor, currency)] as const),
    isOpen && heldUntilMs !== undefined && (['Authorization ends', moment(heldUntilMs, nowMs)] as const),
  ]
}

function keyOf(params: Visit['params']): OrderKey {
  return { merchantId: params['merchantId'] ?? '', paymentId: params['paymentId'] ?? '' }
}

function timeline({ order, changes, refunds, captures }: OrderDetails, nowMs: number): Html {
  const steps = [
    { timeMs: order.createdAtMs, mark: status('pending', 'Created'), by: 'merchant', text: undefined },
    ...changes.map(({ to, changedAtMs, actor, reason }) => ({
      timeMs: changedAtMs,
      mark: status(to),
      by: actor as string,
      text: reason,
    })),
    ...captures.map((capture) => ({
      // A capture that is under way or was declined comes last.
      timeMs: capture.capturedAtMs,
      mark: captureMark(capture),
      by: undefined,
      text: `${capture.referCaptureNo}: ${toDecimalText(capture.amountMinor, order.currency)} ${order.currency}${capture.failure === undefined ? '' : `: ${capture.failure}`}`,
    })),
    ...refunds.flatMap((refund) => [
      {
        timeMs: refund.createdAtMs,
        mark: status('refunding'),
        by: undefined,
        text: `${refund.referRefundNo}: ${toDecimalText(refund.amountMinor, refund.currency)} ${refund.currency}`,
      },
      ...(refund.completedAtMs === undefined
        ? []
        : [
            {
              timeMs: refund.completedAtMs,
              mark: status(refund.status),
              by: undefined,
              text: refund.message ?? refund.referRefundNo,
            },
          ]),
    ]),
  ]
  const sorted = steps.toSorted((a, b) => (a.timeMs ?? Infinity) - (b.timeMs ?? Infinity))
  return html`<ol class="timeline">${sorted.map(
    ({
      timeMs,
      mark,
      by,
      text,
    }) => html`<li>${mark}<p>${timeMs !== undefined && moment(timeMs, nowMs)}${by !== undefined && html` · by the ${by}`}</p>
${text !== undefined && html`<p class="wrap">${text}</p>`}</li>`,
  )}</ol>`
}

function goods(order: Order): Html {
  const content = readSummary(order.content)
  const money = (minor: string | undefined): Content =>
    minor === undefined ? '—' : amount(BigInt(minor), order.currency)
  const extras = (
    [
      ['Order amount', content.orderAmountMinor],
      ['Tips', content.tipsMinor],
      ['Discount', content.discountMinor],
      ['Tax', content.totalTaxMinor],
      ['Insurance', content.insuranceMinor],
      ['Handling fee', content.handlingFeeMinor],
      ['Shipping', content.shipping?.amountMinor],
      ['Shipping discount', content.shippingDiscountMinor],
    ] as const
  ).map(([name, minor]) => minor !== undefined && ([name, money(minor)] as const))
  return html`${content.orderDescription !== undefined && html`<p class="wrap">${content.orderDescription}</p>`}
${table(
  'Goods',
  ['Goods', number('Unit price'), number('Tax'), number('Quantity')],
  content.goods.map((good) => [
    html`<span class="wrap">${good.goodsName}${good.goodsDesc !== undefined && html`<br><span class="quiet">${good.goodsDesc}</span>`}</span>`,
    money(good.goodsAmountMinor),
    money(good.taxMinor),
    good.goodsQuantity,
  ]),
)}
<h3 class="hidden">Sums</h3>${facts(extras)}`
}

const shipTypes: Readonly<Record<string, string>> = {
  SHIPPING: 'Shipping',
  PICKUP_IN_STORE: 'Store pickup',
  PICKUP_FROM_PERSON: 'Pickup in person',
}

function delivery(order: Order): Html | undefined {
  const { shipping } = readSummary(order.content)
  return (
    shipping &&
    html`<section class="card"><h2>Delivery</h2>${facts([
      ['Method', shipTypes[shipping.shipType] ?? shipping.shipType],
      ['Name', html`<bdi>${shipping.name}</bdi>`],
      shipping.address !== undefined &&
        (['Address', html`<span class="pre-line">${shipping.address}</span>`] as const),
    ])}</section>`
  )
}

function refundTable(visit: Visit, details: OrderDetails): Html {
  const { nowMs } = visit
  const { order, refunds, attempts } = details
  const party = payerOf(details, order.railId)
  const isByTransfer = attempts.some((each) => each.railId === order.railId && isByBankTransfer(each))
  return table(
    'Refunds, oldest first',
    [
      'Status',
      number('Amount'),
      'Refund number',
      'Refund ID',
      'Reason',
      'Requested',
      'Ended',
      ...(isByTransfer ? ['Actions'] : []),
    ],
    refunds.map((refund) => [
      status(refund.status),
      amount(refund.amountMinor, refund.currency),
      html`<span class="wrap">${refund.referRefundNo}</span>`,
      html`<code>${refund.refundId}</code>`,
      html`<span class="wrap">${refund.message ?? refund.reason ?? '—'}</span>`,
      moment(refund.createdAtMs, nowMs),
      moment(refund.completedAtMs, nowMs),
      ...(isByTransfer
        ? [
            actionForms(visit, 'refund', {
              subject: { refund, isByTransfer },
              values: { ...refundKey(refund), party },
            }),
          ]
        : []),
    ]),
  )
}

function refundKey({ merchantId, paymentId, refundId }: Refund) {
  return { merchantId, paymentId, refundId }
}

function isByBankTransfer({ reference }: Attempt): boolean {
  return reference !== undefined && isCreditorReference(reference)
}

/** The payer of a bank transfer with their account; undefined if there were several, or the bank does not name one. */
function payerOf({ transferEntries }: OrderDetails, railId: string | undefined): string | undefined {
  const came = transferEntries.filter((entry) => entry.railId === railId && entry.direction === 'in')
  const [party, ...others] = new Set(came.map((entry) => entry.party))
  return others.length === 0 ? party : undefined
}

/** For each rail with bank entries for the order. */
function heldTransfers({ order, transferEntries }: OrderDetails): HeldTransfer[] {
  return [...new Set(transferEntries.map(({ railId }) => railId))].map((railId) => ({
    order,
    railId,
    heldMinor: heldMinor(order, railId, transferEntries),
  }))
}

function bankTransfers(visit: Visit, details: OrderDetails, held: HeldTransfer): Html {
  const { transferEntries } = details
  const { railId, order } = held
  const { merchantId, paymentId, currency } = order
  return html`<h2>Bank transfers through <a href="/rails/${railId}">${railId}</a></h2>
<p>In suspense for this order: ${amount(held.heldMinor, currency)}</p>
${actionForms(visit, 'held-transfer', { subject: held, values: { merchantId, paymentId, railId, amount: toDecimalText(held.heldMinor, currency), party: payerOf(details, railId) } })}
${table(
  'Bank entries, oldest first',
  ['Type', number('Amount'), 'Bank’s reference', 'Value date', 'Counterparty', 'Bank account', 'Recorded'],
  transferEntries
    .filter((entry) => entry.railId === railId)
    .map((entry) => [
      entry.direction === 'in' ? 'Received' : entry.refundId === undefined ? 'Returned' : 'Refund',
      amount(entry.amountMinor, entry.currency),
      bankReference(entry.outsideReference),
      entry.valueDate,
      html`<span class="wrap">${entry.party ?? '—'}</span>`,
      entry.bankName === undefined
        ? '—'
        : html`<a href="/money/banks/${entry.bankName}">${entry.bankName}</a>`,
      moment(entry.recordedAtMs, visit.nowMs),
    ]),
)}`
}

function captureMark(capture: Capture): Html {
  const state = captureStatusOf(capture)
  if (state === 'captured') return status('success', 'Captured')
  return state === 'failed' ? status('failed', 'Not captured') : status('confirming', 'Capturing')
}

const attemptLooks = {
  starting: 'wait',
  pending: 'wait',
  submitted: 'wait',
  authorized: 'wait',
  approved: 'good',
  declined: 'bad',
  cancelled: 'off',
  returning: 'wait',
  returned: 'off',
  held: 'bad',
} as const

function attemptTable(visit: Visit, { attempts }: OrderDetails): Html {
  const { nowMs } = visit
  return table(
    'Payment attempts, oldest first',
    ['Rail', 'Status', 'Transaction ID', 'Rail’s reference', 'Reason', 'Started', 'Ended', 'Actions'],
    attempts.map((attempt) => [
      html`<a href="/rails/${attempt.railId}">${attempt.railId}</a>`,
      statusBadge(attemptLooks[attempt.status], attempt.status),
      html`<code>${attempt.transactionId}</code>`,
      html`<span class="wrap">${attempt.reference ?? '—'}</span>`,
      html`<span class="wrap">${attempt.reason ?? '—'}</span>`,
      ago(attempt.startedAtMs, nowMs),
      attempt.endedAtMs === undefined ? '—' : ago(attempt.endedAtMs, nowMs),
      actionForms(visit, 'attempt', { subject: attempt, values: attemptValues(attempt) }),
    ]),
  )
}

function attemptValues({ merchantId, paymentId, transactionId, railId, reference, currency }: Attempt) {
  return { merchantId, paymentId, transactionId, railId, reference, currency }
}

function callTable({ railCalls }: OrderDetails, nowMs: number): Html {
  return html`<details class="fold"><summary>Rail requests</summary>${table(
    'Calls, oldest first',
    ['Time', 'Message', 'Response', 'HTTP', { head: 'Duration', isNumber: true }, 'Details'],
    railCalls.map((call) => [
      moment(call.calledAtMs, nowMs),
      html`<code>${call.type}</code>`,
      call.outcome === 'failed' ? statusBadge('bad', 'failed') : call.outcome,
      call.httpStatus ?? '—',
      // The duration of a failed connection distinguishes a closed port from a filtered one; only the log contains it.
      call.outcome === 'failed' && call.httpStatus === undefined ? '—' : `${call.durationMs} ms`,
      html`<span class="wrap">${call.detail ?? '—'}</span>`,
    ]),
  )}</details>`
}

const phases = {
  hold: statusBadge('wait', 'Held'),
  post: statusBadge('good', 'Posted'),
  void: statusBadge('off', 'Voided'),
  direct: statusBadge('good', 'Moved'),
} as const

function transferTable({ transfers }: OrderDetails, nowMs: number): Html {
  return table(
    'Ledger transfers, oldest first',
    ['Time', 'Type', 'Phase', number('Amount'), 'From', 'To', 'Transfer ID'],
    transfers.map((transfer) => [
      ago(transfer.madeAtMs, nowMs),
      transfer.kind.replaceAll('_', ' '),
      phases[transfer.phase],
      amount(transfer.amountMinor, transfer.currency),
      account(transfer.debitAccountId),
      account(transfer.creditAccountId),
      html`<code>${transfer.transferId}</code>`,
    ]),
    { none: 'No transfers.' },
  )
}

/** The owner of the account; the account's full name appears on hover. */
function account(accountId: string): Html {
  const [ownerKind = '', ownerId = ''] = accountId.split(':')
  const page = { wallet: '/wallets/', merchant: '/merchants/', rail: '/rails/' }[ownerKind]
  return page === undefined
    ? html`<span title="${accountId}">${ownerKind}</span>`
    : html`<a href="${page}${ownerId}" title="${accountId}">${ownerKind}</a>`
}
