// The conformance checks, one per promise of docs/rails.md, with its words.
import {
  type DisputeMessage,
  digitsOf,
  disputeVersion,
  makeWebhookSecret,
  type RailCaptureAnswer,
  type RailMessageOf,
  type RailPaymentAnswer,
  type RailResponseVerdict,
} from '@tillgate/protocol'
import { Nonconformance, NotChecked, type Probe, type SignedBy } from './probe.ts'

export interface Check {
  readonly title: string
  readonly protocol: string
  readonly run: (probe: Probe) => Promise<void>
}

/**
 * Parts whose floating-point sum exceeds the payment, and whose truncation to minor units falls short. A rail with
 * such arithmetic rejects a valid refund or pays too much.
 */
const partsMinor: readonly (readonly [bigint, bigint])[] = [
  [115n, 399n],
  [115n, 399n],
  [115n, 399n],
  [1_001n, 4_001n],
  [10_010n, 40_002n],
]

const minute = 60_000

export function railChecks(currencies: readonly string[]): Check[] {
  return [
    ...signatureChecks,
    ...unknownChecks,
    disputeCheck,
    captureUnknownCheck,
    ...currencies.flatMap(currencyChecks),
    // In one currency, because a person may have to approve each payment.
    ...currencies.slice(0, 1).flatMap(captureChecks),
    responseCheck,
  ]
}

const badSignatures: Record<Exclude<RailResponseVerdict, 'genuine'>, string> = {
  not_signed: 'not signed (webhook-id, webhook-timestamp or webhook-signature is missing)',
  wrong_id: 'signed for another message (its webhook-id is not that of the message)',
  outside_window: 'signed more than five minutes before or after now (webhook-timestamp)',
  wrong_signature: 'wrong signature (not made with this secret over id.timestamp.body)',
}

/** Runs last, because it judges the responses to all other checks. */
const responseCheck: Check = {
  title: 'every response is signed for the message that it responds to',
  protocol:
    'An HTTP 200 response has the webhook-id of its message, the time, and a signature over id.timestamp.body.',
  async run({ verdicts }) {
    if (verdicts.length === 0) throw new NotChecked('no message got HTTP 200')
    const wrong = Object.entries(badSignatures).flatMap(([verdict, words]) => {
      const types = new Set(verdicts.filter((each) => each.verdict === verdict).map(({ type }) => type))
      return types.size === 0 ? [] : [`the response to ${[...types].sort().join(', ')}: ${words}`]
    })
    if (wrong.length > 0) throw new Nonconformance(wrong.join('; '))
  },
}

/** A rail that returns 400 passes on no disputes, which is allowed. */
const disputeCheck: Check = {
  title: 'an unknown dispute is unknown, if the rail passes on disputes',
  protocol:
    'dispute.status, dispute.evidence and dispute.accept with an unknown id get `unknown`, or HTTP 400.',
  async run(probe) {
    const common = {
      version: disputeVersion,
      disputeId: probe.freshRefundId(),
      transactionId: probe.freshTransactionId(),
    }
    const messages: readonly DisputeMessage[] = [
      { type: 'dispute.status', ...common },
      { type: 'dispute.evidence', ...common, evidenceId: probe.freshRefundId(), text: 'tillgate rail check' },
      { type: 'dispute.accept', ...common },
    ]
    for (const message of messages) {
      const answer = await probe.askDispute(message)
      if (answer && answer.status !== 'unknown')
        throw new Nonconformance(`the answer to ${message.type} is ${answer.status}, not unknown`)
    }
  },
}

/** A rail that returns 400 takes no orders with captureMode. */
const captureUnknownCheck: Check = {
  title: 'a capture of a payment with an unknown id is declined, if the rail captures',
  protocol:
    'payment.capture of an unknown id is declined, and payment.release gets unknown; or both get HTTP 400.',
  async run(probe) {
    const transactionId = probe.freshTransactionId()
    const captured = await probe.capture(transactionId, 100n, { currency: 'EUR', final: true, number: 1 })
    if (captured) expectStatus(captured, 'declined', 'payment.capture')
    const released = await probe.release(transactionId)
    if ((captured === undefined) !== (released === undefined))
      throw new Nonconformance('only one of payment.capture and payment.release gets HTTP 400')
    if (released) expectStatus(released, 'unknown', 'payment.release')
  },
}

const anotherSecret = makeWebhookSecret((size) => Buffer.alloc(size, 1))

type Start = RailMessageOf<'payment.start'>

const refusals: readonly (readonly [title: string, by: (start: Start) => SignedBy | 'unsigned'])[] = [
  ['an unsigned message is rejected', () => 'unsigned'],
  ['a signature by another secret is rejected', () => ({ secrets: [anotherSecret] })],
  [
    'a body that is not the one that was signed is rejected',
    (start) => ({ sentBody: JSON.stringify({ ...start, orderNo: 'another' }) }),
  ],
  ['a signature of six minutes ago is rejected', ({ createdAt }) => ({ nowMs: createdAt - 6 * minute })],
  ['a signature of six minutes ahead is rejected', ({ createdAt }) => ({ nowMs: createdAt + 6 * minute })],
]

const signatureChecks: readonly Check[] = [
  ...refusals.map(([title, by]) => ({
    title,
    protocol: 'A message without a valid signature within five minutes gets 401 and has no effect.',
    async run(probe: Probe) {
      const start = probe.makeStart(100n, 'EUR')
      const response = await probe.send(start, by(start))
      if (response.kind === 'failed') throw new Nonconformance(response.reason)
      if (response.httpStatus !== 401) throw new Nonconformance(`it got HTTP ${response.httpStatus}, not 401`)
      const { status } = await probe.paymentStatus(start.transactionId)
      if (status !== 'unknown')
        throw new Nonconformance(`the message was rejected, but the payment is ${status}`)
    },
  })),
  {
    title: 'one of several signatures is enough',
    protocol: 'While a secret is replaced a message has a signature by each, separated by a space.',
    async run(probe) {
      const status = { type: 'payment.status', transactionId: probe.freshTransactionId() }
      const both = await probe.send(status, { secrets: [anotherSecret, probe.secret] })
      if (both.kind === 'failed') throw new Nonconformance(both.reason)
      if (both.httpStatus !== 200) throw new Nonconformance(`it got HTTP ${both.httpStatus}, not 200`)
    },
  },
]

const unknownChecks: readonly Check[] = [
  {
    title: 'a payment and a refund with an unknown id are unknown',
    protocol: 'payment.status, payment.cancel and refund.status of an unknown id get unknown.',
    async run(probe) {
      const transactionId = probe.freshTransactionId()
      expectStatus(await probe.paymentStatus(transactionId), 'unknown', 'payment.status')
      const cancelled = await probe.askPayment({ type: 'payment.cancel', transactionId })
      expectStatus(cancelled, 'unknown', 'payment.cancel')
      const refund = await probe.askRefund({ type: 'refund.status', refundId: probe.freshRefundId() })
      expectStatus(refund, 'unknown', 'refund.status')
    },
  },
  {
    title: 'a refund of a payment with an unknown id is declined',
    protocol: 'All refunds of a payment together are at most what was paid.',
    async run(probe) {
      const refund = await probe.askRefund(probe.makeRefund(probe.makeStart(100n, 'EUR'), 100n))
      expectStatus(refund, 'declined', 'refund.start')
    },
  },
]

function currencyChecks(currency: string): Check[] {
  const [firstMinor, secondMinor] = partsMinor[digitsOf(currency)] ?? [1n, 2n]
  const amountMinor = firstMinor + secondMinor
  /** Started once, for all checks that need a paid payment. */
  let paid: Promise<Started> | undefined
  const pay = (probe: Probe) => {
    paid ??= start(probe, amountMinor, currency).then(async (started) => {
      await probe.untilPaid(started.start, started.answer)
      return started
    })
    return paid
  }

  return [
    {
      title: `a repeated start is the same payment (${currency})`,
      protocol: 'The same id is always the same payment: a repeat returns its current state.',
      async run(probe) {
        const first = await start(probe, amountMinor, currency)
        const repeats = await Promise.all([1, 2, 3].map(() => probe.askPayment(first.start)))
        for (const repeat of repeats) expectSame(first.answer, repeat, 'a repeated payment.start')
        const status = await probe.paymentStatus(first.start.transactionId)
        expectSame(first.answer, status, 'payment.status')
      },
    },
    {
      title: `a payment that is cancelled in time stays cancelled (${currency})`,
      protocol:
        'payment.cancel ends a payment that is pending; a cancelled one is never paid and never refunded.',
      async run(probe) {
        const { start: message, answer } = await start(probe, amountMinor, currency)
        if (answer.status !== 'pending') throw new NotChecked(`the payment was ${answer.status} at once`)
        const { transactionId } = message
        const cancel = { type: 'payment.cancel', transactionId } as const
        expectStatus(await probe.askPayment(cancel), 'cancelled', 'payment.cancel')
        expectStatus(await probe.askPayment(cancel), 'cancelled', 'a repeated payment.cancel')
        expectStatus(await probe.paymentStatus(transactionId), 'cancelled', 'payment.status afterwards')
        expectStatus(await probe.askPayment(message), 'cancelled', 'a repeated payment.start afterwards')
        const refund = await probe.askRefund(probe.makeRefund(message, firstMinor))
        expectStatus(refund, 'declined', 'a refund of it')
      },
    },
    {
      title: `a payment that is approved stays approved (${currency})`,
      protocol: 'approved is final and has the rail’s reference; payment.cancel is then answered approved.',
      async run(probe) {
        const { start: message } = await pay(probe)
        const { transactionId } = message
        const approved = await probe.paymentStatus(transactionId)
        const cancelled = await probe.askPayment({ type: 'payment.cancel', transactionId })
        expectSame(approved, cancelled, 'payment.cancel of an approved payment')
        expectSame(approved, await probe.paymentStatus(transactionId), 'payment.status afterwards')
        expectSame(approved, await probe.askPayment(message), 'a repeated payment.start')
      },
    },
    {
      title: `refunds are exact to the last minor unit, and never more than was paid (${currency})`,
      protocol:
        'All refunds of a payment together are at most what was paid. A repeat by the same refundId gives nothing back again.',
      async run(probe) {
        const { start: message } = await pay(probe)
        const refund = (minor: bigint) => probe.makeRefund(message, minor)
        const tooMuch = await probe.askRefund(refund(amountMinor + 1n))
        expectStatus(tooMuch, 'declined', 'a refund of one minor unit more than was paid')
        const first = refund(firstMinor)
        const given = await probe.askRefund(first)
        expectGiven(given.status, `a refund of ${first.amount} of ${message.amount} ${currency}`)
        expectGiven((await probe.askRefund(first)).status, 'the same refund, repeated')
        const status = await probe.askRefund({ type: 'refund.status', refundId: first.refundId })
        expectGiven(status.status, 'refund.status of it')
        const second = refund(secondMinor)
        expectGiven(
          (await probe.askRefund(second)).status,
          `a refund of the other ${second.amount} ${currency}`,
        )
        const more = await probe.askRefund(refund(1n))
        expectStatus(more, 'declined', 'a refund of one minor unit after all was given back')
      },
    },
  ]
}

/** A rail may capture a payment once only, and then declines a capture that is not the last. */
function captureChecks(currency: string): Check[] {
  const [firstMinor, secondMinor] = partsMinor[digitsOf(currency)] ?? [1n, 2n]
  const amountMinor = firstMinor + secondMinor
  const reserve = async (probe: Probe) => {
    if (!(await probe.release(probe.freshTransactionId()))) throw new NotChecked('it captures nothing')
    const started = await start(probe, amountMinor, currency, { captureMode: 'manual' })
    await probe.untilPaid(started.start, started.answer, 'authorized')
    return started.start.transactionId
  }
  return [
    {
      title: `a reserved payment is captured once by each id, and never beyond (${currency})`,
      protocol:
        'The same captureId is the same capture. All captures together are at most what is reserved; the last one releases the rest.',
      async run(probe) {
        const id = await reserve(probe)
        const part = { currency, final: false, number: 1 }
        const tooMuch = await probe.capture(id, amountMinor + 1n, { ...part, number: 0 })
        expectStatus(tooMuch ?? none, 'declined', 'a capture of one minor unit more than is reserved')
        const first = await probe.capture(id, firstMinor, part)
        expectSameCapture(first, await probe.capture(id, firstMinor, part))
        const last = await probe.capture(id, secondMinor, { currency, final: true, number: 2 })
        expectGiven((last ?? none).status, 'the last capture')
        const more = await probe.capture(id, 1n, { currency, final: true, number: 3 })
        expectStatus(more ?? none, 'declined', 'a capture after the last one')
        expectStatus(await probe.paymentStatus(id), 'approved', 'payment.status afterwards')
      },
    },
    {
      title: `a reserved payment that is released is cancelled (${currency})`,
      protocol:
        'After payment.release, the payment is cancelled if nothing was captured. A repeat returns the same.',
      async run(probe) {
        const id = await reserve(probe)
        expectStatus((await probe.release(id)) ?? none, 'cancelled', 'payment.release')
        expectStatus((await probe.release(id)) ?? none, 'cancelled', 'a repeated payment.release')
        const capture = await probe.capture(id, firstMinor, { currency, final: true, number: 1 })
        expectStatus(capture ?? none, 'declined', 'a capture afterwards')
      },
    },
  ]
}

const none = { status: 'HTTP 400' }

function expectSameCapture(
  first: RailCaptureAnswer | undefined,
  second: RailCaptureAnswer | undefined,
): void {
  if ((first?.status === 'declined') !== (second?.status === 'declined'))
    throw new Nonconformance(`a repeated capture got ${second?.status}, where it was ${first?.status}`)
}

interface Started {
  readonly start: Start
  readonly answer: RailPaymentAnswer
}

async function start(
  probe: Probe,
  amountMinor: bigint,
  currency: string,
  more: Pick<Start, 'captureMode'> = {},
): Promise<Started> {
  const message = { ...probe.makeStart(amountMinor, currency), ...more }
  const answer = await probe.askPayment(message)
  if (answer.status === 'declined')
    throw new NotChecked(`it declined ${message.amount} ${currency}: ${answer.reason}`)
  return { start: message, answer }
}

function expectStatus(answer: { readonly status: string }, expected: string, what: string): void {
  if (answer.status !== expected) throw new Nonconformance(`${what} got ${answer.status}, not ${expected}`)
}

function expectGiven(status: string, what: string): void {
  if (status !== 'approved' && status !== 'submitted')
    throw new Nonconformance(`${what} got ${status}, not approved or submitted`)
}

/** The payment may have progressed meanwhile. */
function expectSame(before: RailPaymentAnswer, after: RailPaymentAnswer, what: string): void {
  const isOpen = before.status === 'pending' || before.status === 'submitted'
  if (after.status === 'unknown' || (!isOpen && after.status !== before.status))
    throw new Nonconformance(`${what} got ${after.status}, where it was ${before.status}`)
  if (before.reference !== undefined && after.reference !== before.reference)
    throw new Nonconformance(`${what} has another reference: ${after.reference}, not ${before.reference}`)
  if (before.status === 'pending' && after.status === 'pending') {
    const [first, second] = [before, after].map(({ nextAction }) => JSON.stringify(nextAction))
    if (first !== second) throw new Nonconformance(`${what} has another nextAction: ${second}, not ${first}`)
  }
}
