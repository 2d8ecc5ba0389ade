// The test bank's books: what the gateway's messages ask of it, and what people choose on its pages. A state that comes
// with time is worked out when it is asked for, so a bank that was restarted answers as before.
import type {
  CaptureMessage,
  RailCaptureAnswer,
  RailMessage,
  RailMessageOf,
  RailPaymentAnswer,
  RailRefundAnswer,
} from '@tillgate/protocol'
import { type Capture, makeCaptures } from './captures.ts'
import { type Dispute, makeDisputes } from './disputes.ts'

export interface Payment extends Omit<RailMessageOf<'payment.start'>, 'type'> {
  readonly reference: string
  readonly status: RailPaymentAnswer['status']
  readonly choice?: Choice
  /** When it is approved without a choice. */
  readonly settlesAtMs?: number
  readonly isReleased?: boolean
}

export interface Refund extends Omit<RailMessageOf<'refund.start'>, 'type'> {
  readonly status: RailRefundAnswer['status']
  readonly whyNot?: string
  readonly settlesAtMs?: number
}

const settlesAfterMs = 5_000

/** What becomes of a payment by what the consumer chose. */
export const choices = {
  approve: () => ({ status: 'approved' }),
  decline: () => ({ status: 'declined' }),
  delay: (_payment, nowMs) => ({ status: 'submitted', settlesAtMs: nowMs + settlesAfterMs }),
  late: ({ expiresAt }) => ({ settlesAtMs: expiresAt }),
  twice: () => ({ status: 'approved' }),
  never: () => ({ status: 'submitted' }),
} as const satisfies Record<string, (payment: Payment, nowMs: number) => Partial<Payment>>
export type Choice = keyof typeof choices

export const refundWays = ['approve', 'delay', 'decline'] as const
export type RefundWay = (typeof refundWays)[number]

/** Everything that is kept: a line of the journal is one of them, as it became. */
export type Entry =
  | { payment: Payment }
  | { refund: Refund }
  | { capture: Capture }
  | { dispute: Dispute }
  | { refundWay: RefundWay }

export interface BankParts {
  /** Where consumers reach the bank. */
  readonly url: string
  readonly now: () => number
  readonly kept: Iterable<Entry>
  /** Called before anything is answered. */
  readonly keep: (entry: Entry) => void
}

export type Bank = ReturnType<typeof makeBank>

export function makeBank({ url, now, kept, keep }: BankParts) {
  const payments = new Map<string, Payment>()
  const refunds = new Map<string, Refund>()
  const captures = makeCaptures((capture) => write({ capture }))
  const disputes = makeDisputes(now, (dispute) => write({ dispute }))
  let wayNow: RefundWay = 'approve'
  for (const entry of kept) learn(entry)

  function answer(
    message: RailMessage | CaptureMessage,
  ): RailPaymentAnswer | RailRefundAnswer | RailCaptureAnswer {
    switch (message.type) {
      case 'payment.capture':
        return captures.capture(message, payment(message.transactionId))
      case 'payment.release':
        return paymentAnswer(release(payment(message.transactionId)))
      case 'payment.start':
        return paymentAnswer(payment(message.transactionId) ?? start(message))
      case 'payment.status':
        return paymentAnswer(payment(message.transactionId))
      case 'payment.cancel':
        return paymentAnswer(cancel(payment(message.transactionId)))
      case 'refund.start':
        return refundAnswer(refund(message.refundId) ?? giveBack(message))
      case 'refund.status':
        return refundAnswer(refund(message.refundId))
    }
  }

  const payment = (transactionId: string) => captures.seen(atThisMoment(payments.get(transactionId)))
  const refund = (refundId: string) => atThisMoment(refunds.get(refundId))
  const refundsOf = (transactionId: string) =>
    [...refunds.values()].filter((each) => each.transactionId === transactionId).map(atThisMoment)

  const newestPayments = () =>
    [...payments.values()]
      .slice(-50)
      .reverse()
      .map((each) => captures.seen(atThisMoment(each)))
  const refundWay = () => wayNow
  const setRefundWay = (way: RefundWay) => write({ refundWay: way })

  function atThisMoment<Kept extends Payment | Refund | undefined>(found: Kept): Kept {
    const isOpen = found?.status === 'pending' || found?.status === 'submitted'
    return isOpen && now() >= (found.settlesAtMs ?? Number.POSITIVE_INFINITY)
      ? { ...found, status: 'approved' }
      : found
  }

  function start({ type: _type, ...sent }: RailMessageOf<'payment.start'>): Payment {
    const reference = `BANK-${payments.size + 1}-${sent.transactionId.slice(-6)}`
    return become({ ...sent, reference, status: 'pending' })
  }

  function cancel(found: Payment | undefined): Payment | undefined {
    if (found?.status !== 'pending') return found
    // A consumer who has paid is not cancelled, also where the bank is slow to say that they did.
    return become({ ...found, status: found.choice === 'late' ? 'approved' : 'cancelled' })
  }

  const release = (found: Payment | undefined) =>
    found?.status === 'authorized' ? become(captures.released(found)) : found

  /** Undefined: there is nothing to choose any more. */
  function choose(transactionId: string, choice: Choice): Payment | undefined {
    const found = payment(transactionId)
    if (found?.status !== 'pending' && found?.status !== 'submitted') return undefined
    const { settlesAtMs: _settlesAtMs, ...undecided } = found
    return become({ ...undecided, choice, ...choices[choice](found, now()) })
  }

  function giveBack({ type: _type, ...sent }: RailMessageOf<'refund.start'>): Refund {
    const whyNot = whyNotRefunded(sent) ?? (wayNow === 'decline' ? 'Refunds are declined.' : undefined)
    const settled = wayNow === 'delay' ? { settlesAtMs: now() + settlesAfterMs } : undefined
    const status = whyNot !== undefined ? 'declined' : settled ? 'submitted' : 'approved'
    const refund: Refund = { ...sent, status, ...(whyNot !== undefined && { whyNot }), ...settled }
    write({ refund })
    return refund
  }

  /** In minor units, which are whole numbers: a sum of refunds is never a little more or less than it should be. */
  function whyNotRefunded(asked: Omit<Refund, 'status'>): string | undefined {
    const paid = payment(asked.transactionId)
    if (paid?.status !== 'approved') return 'There is no such payment, or it was not paid.'
    if (paid.currency !== asked.currency) return `It was paid in ${paid.currency}.`
    const given = refundsOf(asked.transactionId).filter(({ status }) => status !== 'declined')
    const totalMinor = [...given, asked].reduce((sum, each) => sum + BigInt(each.amountMinor), 0n)
    return totalMinor > captures.takenMinor(paid) ? 'It is more than what was paid.' : undefined
  }

  function paymentAnswer(found: Payment | undefined): RailPaymentAnswer {
    if (found === undefined) return { status: 'unknown' }
    const { status, reference, transactionId } = found
    const common = { reference, checkAfterSeconds: 5 }
    if (status === 'declined') return { ...common, status, reason: 'You declined the payment at the bank.' }
    if (status !== 'pending') return { ...common, status }
    return { ...common, status, nextAction: { kind: 'redirect', url: `${url}/pay/${transactionId}` } }
  }

  function refundAnswer(found: Refund | undefined): RailRefundAnswer {
    const { status, whyNot = '' } = found ?? { status: 'unknown' }
    return status === 'declined' ? { status, reason: whyNot } : { status, checkAfterSeconds: 5 }
  }

  function become(payment: Payment): Payment {
    write({ payment })
    return payment
  }

  function write(entry: Entry): void {
    keep(entry)
    learn(entry)
  }

  function learn(entry: Entry): void {
    if ('payment' in entry) payments.set(entry.payment.transactionId, entry.payment)
    else if ('capture' in entry) captures.learn(entry.capture)
    else if ('dispute' in entry) disputes.learn(entry.dispute)
    else if ('refund' in entry) refunds.set(entry.refund.refundId, entry.refund)
    else wayNow = entry.refundWay
  }

  return { answer, payment, refund, refundsOf, disputes, choose, newestPayments, refundWay, setRefundWay }
}
