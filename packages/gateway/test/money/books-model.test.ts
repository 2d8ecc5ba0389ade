// The pure rules of money alone, over many random commands in currencies of 0, 2 and 3 digits: payments, refunds, fees,
// payouts, their returns and corrections. Whatever comes, the books balance, nothing goes below zero that may not, and of
// every payment fees, nets and refunds make the gross, to the minor unit. BOOKS_COMMANDS=1000000 runs as many as one
// likes by hand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import {
  accountIdOf,
  bankAccount,
  endHold,
  merchantAccount,
  type Transfer,
  walletAccount,
} from '../../src/core/ledger/rules/transfer.ts'
import { chargeFor, feeReturn } from '../../src/core/orders/fees/rules/fee.ts'
import { makePriceBook, type Price } from '../../src/core/orders/fees/rules/price.ts'
import { paymentHold } from '../../src/core/orders/payments/rules/payment.ts'
import { requestRefund, settleRefund } from '../../src/core/orders/refunds/rules/refund.ts'
import type { Order } from '../../src/core/orders/rules/order.ts'
import { holdOf } from '../../src/finance/payouts/rules/decide-payouts.ts'
import { endPayout } from '../../src/finance/payouts/rules/end-payout.ts'
import type { Payout } from '../../src/finance/payouts/rules/payout.ts'
import { type Correction, planCorrection } from '../../src/finance/treasury/rules/correction.ts'
import { Books } from '../support/books.ts'
import { nowMs, order as orderValue } from '../support/order-value.ts'

const wanted = Number(process.env['BOOKS_COMMANDS'] ?? 100_000)
const seed = Number(process.env['BOOKS_SEED'] ?? Math.floor(Math.random() * 2 ** 32))
const merchants = ['m1', 'm2', 'm3']
const wallets = ['w1', 'w2', 'w3', 'w4']
const currencies = ['JPY', 'USD', 'TND']
const maxKept = 60
const everywhere = { merchantId: undefined, railId: undefined, currency: undefined }
const nothing = {
  fixedMinor: 0n,
  basisPoints: 0,
  leastMinor: undefined,
  mostMinor: undefined,
  returnsFee: true,
}
const booking = { reference: 'B', valueDate: '2026-11-16' }
const payoutBase = {
  runId: 'r',
  planDay: undefined,
  status: 'requested',
  account: { holder: 'Shop', iban: undefined, lines: [], bic: undefined },
  requestedAtMs: nowMs,
  sentAtMs: undefined,
  endedAtMs: undefined,
  reference: undefined,
  valueDate: undefined,
  message: undefined,
} as const
const prices = makePriceBook(
  [
    { ...everywhere, terms: { ...nothing, basisPoints: 33 } },
    {
      ...everywhere,
      currency: 'USD',
      terms: { ...nothing, basisPoints: 290, fixedMinor: 30n, returnsFee: false },
    },
    {
      ...everywhere,
      currency: 'TND',
      terms: { ...nothing, basisPoints: 177, leastMinor: 5n, mostMinor: 400n },
    },
    { ...everywhere, merchantId: 'm2', terms: { ...nothing, basisPoints: 10_000 } },
    {
      ...everywhere,
      merchantId: 'm3',
      currency: 'JPY',
      terms: { ...nothing, fixedMinor: 3n, basisPoints: 1 },
    },
  ].map((price, index): Price => ({ priceId: String(index), validFromMs: 0, createdAtMs: 0, ...price })),
)

const bases = new Map(
  merchants.flatMap((merchantId) =>
    currencies.map(
      (currency) => [`${merchantId} ${currency}`, orderValue({ merchantId, currency })] as const,
    ),
  ),
)

const commands: ((books: Books) => void)[] = [
  topUp,
  pay,
  pay,
  pay,
  refund,
  refund,
  refund,
  endRefund,
  endRefund,
  endRefund,
  payOut,
  endAPayout,
  endAPayout,
  endAPayout,
  correct,
  correct,
]

function topUp(books: Books): void {
  const currency = books.pick(currencies)
  const transfer = books.direct('top_up', {
    merchantId: '',
    debitAccountId: accountIdOf(bankAccount('main', currency)),
    creditAccountId: accountIdOf(walletAccount(books.pick(wallets), currency)),
    currency,
    amountMinor: books.amount() * 5n,
  })
  assert.ok(books.post([transfer]))
  books.correctable.push({ transfer, correctedMinor: 0n })
}

function pay(books: Books): void {
  const base = bases.get(`${books.pick(merchants)} ${books.pick(currencies)}`)
  assert(base)
  const confirming: Order = {
    ...base,
    paymentId: books.id('P'),
    paymentAmountMinor: books.amount(),
    status: 'confirming',
    walletId: books.pick(wallets),
    transactionId: books.id('T'),
  }
  const hold = paymentHold(confirming, nowMs)
  if (!books.post([hold])) return
  const isApproved = books.nat(10) > 0
  const end = endHold(hold, { transferId: books.id('T'), phase: isApproved ? 'post' : 'void', nowMs })
  if (!isApproved) return void assert.ok(books.post([end]))
  const charge = chargeFor(confirming, prices, nowMs)
  const order: Order = { ...confirming, status: 'success', fee: charge?.fee }
  const sale = { order, netMinor: 0n, feesMinor: 0n, backMinor: 0n, refunding: [] }
  books.postSale(sale, charge ? [end, charge.transfer] : [end])
  books.sales.push(sale)
  if (books.sales.length > maxKept) books.sales.shift()
}

function refund(books: Books): void {
  const sale = books.sales[books.nat(books.sales.length + 1)]
  if (!sale) return
  const { order } = sale
  const asked = {
    referRefundNo: 'n',
    amountMinor: 1n + BigInt(books.nat(Number(order.paymentAmountMinor))),
    reason: undefined,
  }
  const request = orFailure(() =>
    requestRefund(order, asked, { refundId: books.id('R'), transactionId: books.id('T'), nowMs }),
  )
  if (!request || !books.post([request.hold])) return
  sale.order = {
    ...order,
    refundHeldMinor: order.refundHeldMinor + asked.amountMinor,
    refundCount: order.refundCount + 1,
  }
  sale.refunding.push(request.refund)
}

function endRefund(books: Books): void {
  const sale = books.sales[books.nat(books.sales.length + 1)]
  if (!sale || sale.refunding.length === 0) return
  const [ending] = sale.refunding.splice(books.nat(sale.refunding.length), 1)
  assert(ending?.transactionId)
  const answer =
    books.nat(5) > 0 ? ({ kind: 'approved' } as const) : ({ kind: 'declined', reason: 'No.' } as const)
  const { end } = settleRefund({ order: sale.order, refund: ending }, answer, {
    transferId: books.id('T'),
    callbackId: 'c',
    nowMs,
  })
  assert(end)
  const { refundedMinor, refundHeldMinor } = sale.order
  const isDone = answer.kind === 'approved'
  const back = isDone
    ? feeReturn(
        sale.order,
        { ...ending, transactionId: ending.transactionId },
        { refundedBeforeMinor: refundedMinor, nowMs },
      )
    : undefined
  sale.order = {
    ...sale.order,
    refundHeldMinor: refundHeldMinor - ending.amountMinor,
    refundedMinor: isDone ? refundedMinor + ending.amountMinor : refundedMinor,
  }
  books.postSale(sale, back ? [end, back] : [end])
}

function payOut(books: Books): void {
  const payout: Payout = {
    merchantId: books.pick(merchants),
    payoutId: books.id('O'),
    currency: books.pick(currencies),
    amountMinor: books.amount(),
    ...payoutBase,
  }
  if (!books.post([holdOf({ ...payout, bankName: 'main', auditId: 'a', nowMs })])) return
  books.payouts.push(payout)
}

/** Sent, paid, returned or cancelled, as its status allows; some that were paid come back later. */
function endAPayout(books: Books): void {
  const [payout] = books.payouts.splice(books.nat(books.payouts.length + 1), 1)
  if (!payout) return
  if (payout.status === 'requested' && books.nat(4) > 0)
    return void books.payouts.push({ ...payout, status: 'sent' })
  const status = books.pick(['paid', 'returned', 'cancelled'] as const)
  const outside = status === 'cancelled' ? undefined : booking
  const end = { bankName: 'main', auditId: 'a', nowMs, random: (size: number) => books.bytes(size) }
  const change = orFailure(() => endPayout(payout, { status, outside, message: undefined }, end))
  if (!change) return void books.payouts.push(payout)
  const account = accountIdOf(merchantAccount(payout.merchantId, payout.currency))
  const before = books.availableMinor(account)
  assert.ok(books.post(change.transfers), 'what was held is there')
  const back = status === 'paid' ? 0n : payout.amountMinor
  assert.equal(books.availableMinor(account), before + back)
  const transfer = change.transfers.find(({ kind, phase }) => kind === 'payout' && phase === 'post')
  if (transfer) books.correctable.push({ transfer, correctedMinor: 0n })
  if (status === 'paid' && books.nat(2) === 0) books.payouts.push({ ...payout, status })
}

function correct(books: Books): void {
  while (books.correctable.length > maxKept) books.correctable.shift()
  const about = books.correctable[books.nat(books.correctable.length + 1)]
  const correction = correctionOf(books, about?.transfer)
  const corrected = correction.corrects === undefined ? undefined : about
  const move = orFailure(() =>
    planCorrection(
      correction,
      corrected && { ...corrected.transfer, correctedMinor: corrected.correctedMinor },
    ),
  )
  if (!move) return
  const transfer = books.direct('correction', {
    merchantId: move.merchantId,
    debitAccountId: accountIdOf(move.from),
    creditAccountId: accountIdOf(move.to),
    currency: correction.currency,
    amountMinor: correction.amountMinor,
    corrects: correction.corrects,
  })
  if (!books.post([transfer])) return
  if (corrected) corrected.correctedMinor += correction.amountMinor
  books.correctable.push({ transfer, correctedMinor: 0n })
}

function correctionOf(books: Books, about: Transfer | undefined): Correction {
  const currency = about?.currency ?? books.pick(currencies)
  const money = {
    currency,
    amountMinor: books.amount(),
    corrects: about?.transferId,
    outside: { bankName: 'main' },
  }
  const merchantId = about?.merchantId || books.pick(merchants)
  const kind = about
    ? books.pick(['reverse', 'reverse', 'write_off', 'fund', 'withdraw'] as const)
    : books.pick(['fund', 'withdraw'] as const)
  if (kind === 'withdraw')
    return { kind, walletId: about?.creditAccountId.split(':')[1] ?? books.pick(wallets), ...money }
  return { kind, merchantId, ...money }
}

function orFailure<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

test(`over ${wanted} random commands (seed ${seed}) the books balance and every payment adds up`, () => {
  const books = new Books(seed)
  for (let done = 0; done < wanted; done++) {
    books.pick(commands)(books)
    if (done % 1_000 === 0) books.checkAll()
  }
  books.checkAll()
  for (const { correctedMinor, transfer } of books.correctable)
    assert.ok(correctedMinor <= transfer.amountMinor)
  assert.ok(books.checked > wanted / 10, `${books.checked} payments were looked at`)
})
