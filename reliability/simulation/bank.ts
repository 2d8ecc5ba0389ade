// A bank that is connected as an outside rail. It keeps what it was told, and decides each payment and refund once. What
// lies between it and the gateway loses, repeats, delays and reorders messages, answers and notifications; some notifications and
// answers are forged, and some notifications are about nothing.
import {
  type CaptureMessage,
  type CaptureMessageOf,
  type DisputeMessage,
  parseCaptureMessage,
  parseDisputeMessage,
  parseRailMessage,
  type RailMessage,
  signRailResponse,
  signWebhook,
} from '@tillgate/protocol'
import type {
  NotificationOutcome,
  RailNotification,
} from '../../packages/gateway/src/finance/rails/handle-notification.ts'
import type { RailPost } from '../../packages/gateway/src/finance/rails/rail-client.ts'
import { SimulatedDisputes } from './disputes.ts'
import type { Owner } from './scheduler.ts'
import type { Seeded } from './seeded.ts'
import type { VirtualTime } from './time.ts'

export const bankRailId = 'bank'

interface Payment {
  readonly amountMinor: bigint
  /** When the consumer does their part, and when the bank is done. */
  readonly actsAtMs: number
  readonly endsAtMs: number
  readonly end: 'approved' | 'declined'
  isCancelled: boolean
  /** A bank that cancelled or declined a payment and takes the money all the same. */
  approvesAfterAllAtMs?: number
  /** Of a payment that is reserved until it is captured or released. */
  readonly captures?: Map<string, Capture>
  /** When the provider itself ends the authorization, sometimes before the gateway expects it. */
  readonly lapsesAtMs?: number
  isReleased?: boolean
}

interface Capture {
  readonly minor: bigint
  readonly endsAtMs: number
  readonly isDeclined: boolean
}

interface Refund {
  readonly transactionId: string
  readonly amountMinor: bigint
  readonly endsAtMs: number
  readonly end: 'approved' | 'declined'
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const forgedSecret = 'whsec_Zm9yZ2VkIGZvcmdlZCBmb3JnZWQgZm9yZ2VkIQ=='

type Headers = Readonly<Record<string, string>>

export class SimulatedBank {
  readonly payments = new Map<string, Payment>()
  readonly refunds = new Map<string, Refund>()
  readonly disputes: SimulatedDisputes
  /** What a gateway must never do. */
  readonly contradictions: string[] = []
  readonly #time: VirtualTime
  readonly #seeded: Seeded
  readonly #world: Owner
  #secret = ''
  /** What somebody who listens could send again. */
  readonly #heard: { readonly body: string; readonly headers: Headers }[] = []
  /** From then on nothing between it and the gateway goes wrong. */
  isHealed = false
  /** Brings a notification to one of the gateway's processes. */
  tell: (notification: RailNotification) => Promise<NotificationOutcome | 'lost'> = async () => 'lost'

  constructor({ time, seeded, world }: { time: VirtualTime; seeded: Seeded; world: Owner }) {
    this.#time = time
    this.#seeded = seeded
    this.#world = world
    const send = (notification: object) => this.#post(notification)
    this.disputes = new SimulatedDisputes({ time, seeded: seeded.stream('disputes'), world, send })
  }

  register(secret: string): void {
    this.#secret = secret
  }

  takenMinor(transactionId: string): bigint {
    const payment = this.payments.get(transactionId)
    if (!payment) return 0n
    if (!payment.captures) return this.#statusOf(payment) === 'approved' ? payment.amountMinor : 0n
    return [...payment.captures.values()].reduce(
      (sum, { minor, endsAtMs, isDeclined }) =>
        isDeclined || endsAtMs > this.#time.nowMs ? sum : sum + minor,
      0n,
    )
  }

  isApproved(transactionId: string): boolean {
    const payment = this.payments.get(transactionId)
    return payment !== undefined && this.#statusOf(payment) === 'approved'
  }

  /** What it gave back of a payment. */
  refundedMinor(transactionId: string): bigint {
    return [...this.refunds.values()]
      .filter((refund) => refund.transactionId === transactionId && refund.end === 'approved')
      .reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
  }

  /** What it has booked by now, as its statements name it. */
  entries() {
    const { nowMs } = this.#time
    const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
    return [
      ...[...this.payments].flatMap(([reference, payment]) => {
        if (payment.captures) return this.#captureEntries(reference, payment.captures)
        if (this.#statusOf(payment) !== 'approved') return []
        const day = dayOf(payment.approvesAfterAllAtMs ?? payment.endsAtMs)
        return [{ reference, paymentReference: reference, day, amountMinor: payment.amountMinor }]
      }),
      ...[...this.refunds].flatMap(([reference, { transactionId, amountMinor, endsAtMs, end }]) =>
        end === 'declined' || endsAtMs > nowMs
          ? []
          : [{ reference, paymentReference: transactionId, day: dayOf(endsAtMs), amountMinor: -amountMinor }],
      ),
    ]
  }

  #captureEntries(paymentReference: string, captures: ReadonlyMap<string, Capture>) {
    return [...captures].flatMap(([reference, { minor: amountMinor, endsAtMs, isDeclined }]) =>
      isDeclined || endsAtMs > this.#time.nowMs
        ? []
        : [{ reference, paymentReference, day: new Date(endsAtMs).toISOString().slice(0, 10), amountMinor }],
    )
  }

  /** As one of the gateway's processes reaches it. */
  for(owner: Owner): RailPost {
    return async ({ body, headers: sent }) => {
      const message = parseDisputeMessage(body) ?? parseCaptureMessage(body) ?? parseRailMessage(body)
      const durationMs = this.#seeded.whole(1, 9_000)
      const lost = { kind: 'unreachable', reason: 'timeout', detail: '', durationMs } as const
      const answered = (httpStatus: number, text: string, headers = this.#sign(sent, text)) =>
        ({ kind: 'answered', httpStatus, headers, answer: Buffer.from(text), durationMs }) as const
      const mood = this.isHealed
        ? 'at_once'
        : this.#seeded.weighted({
            at_once: 52,
            forged: 6,
            old: 10,
            late: 8,
            lost: 6,
            answer_lost: 8,
            straggles: 4,
            trouble: 6,
          })
      switch (mood) {
        case 'at_once':
          return answered(200, this.#handle(message))
        case 'old': {
          const text = this.#handle(message)
          await this.#time.wait(owner, durationMs)
          return answered(200, text)
        }
        case 'late':
          await this.#time.wait(owner, durationMs)
          return answered(200, this.#handle(message))
        case 'lost':
          await this.#time.wait(owner, durationMs)
          return lost
        case 'answer_lost':
          this.#handle(message)
          await this.#time.wait(owner, durationMs)
          return lost
        case 'straggles':
          // It is on its way still when nobody waits for it any more.
          void this.#wait(this.#seeded.whole(10 * second, 10 * minute)).then(() => this.#handle(message))
          await this.#time.wait(owner, durationMs)
          return lost
        case 'forged': {
          const forged = this.#forge(sent)
          return answered(200, forged.body, forged.headers)
        }
        case 'trouble':
          return this.#seeded.pick([answered(503, ''), answered(200, '{"status":'), answered(200, '{}')])
      }
    }
  }

  #sign(sent: Headers, body: string, secret = this.#secret): Headers {
    const nowMs = this.#time.nowMs + this.#time.jumpedMs
    const headers = signRailResponse(sent, body, { secrets: [secret], nowMs })
    if (secret === this.#secret && body.includes('approved')) this.#heard.push({ body, headers })
    return headers
  }

  /** An approval by somebody who does not have the secret, and has heard others. */
  #forge(sent: Headers): { readonly body: string; readonly headers: Headers } {
    const body = JSON.stringify({ status: 'approved', reference: 'forged' })
    const repeated = this.#heard.length > 0 ? [this.#seeded.pick(this.#heard)] : []
    const forgeries = [
      { body, headers: {} },
      { body, headers: this.#sign(sent, body, forgedSecret) },
      ...repeated,
      ...repeated.map((heard) => ({
        body: heard.body,
        headers: { ...heard.headers, 'webhook-id': sent['webhook-id'] ?? '' },
      })),
    ]
    return this.#seeded.pick(forgeries)
  }

  #handle(message: RailMessage | CaptureMessage | DisputeMessage): string {
    return JSON.stringify('disputeId' in message ? this.disputes.answer(message) : this.#answer(message))
  }

  #answer(message: RailMessage | CaptureMessage): object {
    switch (message.type) {
      case 'payment.capture':
        return this.#capture(message)
      case 'payment.release': {
        const payment = this.payments.get(message.transactionId)
        if (payment?.captures && this.#statusOf(payment) === 'authorized') payment.isReleased = true
        return this.#answerAbout(message.transactionId)
      }
      case 'payment.start':
        if (!this.payments.has(message.transactionId)) this.#begin(message)
        return this.#answerAbout(message.transactionId)
      case 'payment.status':
        return this.#answerAbout(message.transactionId)
      case 'payment.cancel': {
        const payment = this.payments.get(message.transactionId)
        if (payment && this.#statusOf(payment) === 'pending') this.#cancel(message.transactionId, payment)
        return this.#answerAbout(message.transactionId)
      }
      case 'refund.start':
        if (!this.refunds.has(message.refundId)) this.#giveBack(message)
        return this.#answerAboutRefund(message.refundId)
      case 'refund.status':
        return this.#answerAboutRefund(message.refundId)
    }
  }

  /** The same id is the same capture. Some take a while, and some are declined. */
  #capture({ captureId, transactionId, amountMinor, final }: CaptureMessageOf<'payment.capture'>): object {
    const payment = this.payments.get(transactionId)
    if (!payment?.captures) {
      this.contradictions.push(`capture ${captureId} of a payment that is not reserved`)
      return { status: 'declined', reason: 'There is no such authorization.' }
    }
    if (!payment.captures.has(captureId)) {
      const minor = BigInt(amountMinor)
      const openMinor = [...payment.captures.values()]
        .filter(({ isDeclined }) => !isDeclined)
        .reduce((left, each) => left - each.minor, payment.amountMinor)
      if (minor > openMinor) this.contradictions.push(`capture ${captureId} takes more than is reserved`)
      const isDeclined = this.#statusOf(payment) !== 'authorized' || this.#seeded.isLucky(0.1)
      const afterMs = this.#seeded.pick([0, 0, this.#seeded.whole(second, hour)])
      payment.captures.set(captureId, { minor, endsAtMs: this.#time.nowMs + afterMs, isDeclined })
      if (final && !isDeclined) payment.isReleased = true
    }
    const { minor, endsAtMs, isDeclined } = payment.captures.get(captureId) ?? {
      minor: 0n,
      endsAtMs: 0,
      isDeclined: true,
    }
    if (this.#time.nowMs < endsAtMs) return { status: 'submitted', checkAfterSeconds: 600 }
    return isDeclined
      ? { status: 'declined', reason: 'The provider declined it.' }
      : { status: 'approved', amountMinor: minor.toString() }
  }

  #begin({ transactionId, amountMinor, captureMode }: RailMessage & { type: 'payment.start' }): void {
    const seeded = this.#seeded
    const fate = seeded.weighted({ at_once: 20, soon: 40, slowly: 25, never: 15 })
    const actsAfterMs = {
      at_once: 0,
      soon: seeded.whole(second, 4 * minute),
      slowly: seeded.whole(minute, 3 * hour),
      never: Number.POSITIVE_INFINITY,
    }[fate]
    const endsAfterMs =
      fate === 'at_once' ? 0 : actsAfterMs + seeded.whole(0, seeded.pick([0, minute, 6 * hour]))
    const actsAtMs = this.#time.nowMs + actsAfterMs
    const payment: Payment = {
      amountMinor: BigInt(amountMinor),
      actsAtMs,
      endsAtMs: this.#time.nowMs + endsAfterMs,
      end: seeded.isLucky(0.8) ? 'approved' : 'declined',
      isCancelled: false,
      ...(captureMode && {
        captures: new Map<string, Capture>(),
        lapsesAtMs: this.#time.nowMs + seeded.whole(2, 9) * 24 * hour,
      }),
    }
    this.payments.set(transactionId, payment)
    if (fate === 'never') return
    for (const afterMs of [actsAfterMs, endsAfterMs]) void this.#notifyAfter(afterMs, transactionId)
    void this.#wait(endsAfterMs).then(() =>
      this.disputes.maybeOpen(transactionId, payment.amountMinor, () => this.isApproved(transactionId)),
    )
    if (payment.end === 'declined' && !captureMode) this.#mayThinkBetter(transactionId, payment, endsAfterMs)
  }

  #cancel(transactionId: string, payment: Payment): void {
    payment.isCancelled = true
    if (!payment.captures) this.#mayThinkBetter(transactionId, payment)
  }

  #mayThinkBetter(transactionId: string, payment: Payment, endsAfterMs = 0): void {
    if (!this.#seeded.isLucky(0.2)) return
    const afterMs = endsAfterMs + this.#seeded.whole(second, 6 * hour)
    payment.approvesAfterAllAtMs = this.#time.nowMs + afterMs
    void this.#notifyAfter(afterMs, transactionId)
  }

  #giveBack({ refundId, transactionId, amountMinor }: RailMessage & { type: 'refund.start' }): void {
    const isDeclined = !this.isApproved(transactionId) || this.#seeded.isLucky(0.15)
    const afterMs = this.#seeded.pick([0, 0, this.#seeded.whole(second, hour)])
    this.refunds.set(refundId, {
      transactionId,
      amountMinor: BigInt(amountMinor),
      endsAtMs: this.#time.nowMs + afterMs,
      end: isDeclined ? 'declined' : 'approved',
    })
  }

  #answerAbout(transactionId: string): object {
    const payment = this.payments.get(transactionId)
    if (!payment) return { status: 'unknown' }
    const status = this.#statusOf(payment)
    const checkAfterSeconds = this.#seeded.whole(30, 7_200)
    const more = {
      pending: { nextAction: { kind: 'redirect', url: 'https://bank.example/pay' }, checkAfterSeconds },
      submitted: { checkAfterSeconds },
      authorized: { reference: transactionId, authorizedUntil: payment.lapsesAtMs },
      approved: { reference: transactionId },
      declined: { reason: 'The bank declined it.' },
      cancelled: {},
    }[status]
    return { status, amountMinor: payment.amountMinor.toString(), ...more }
  }

  #statusOf(
    payment: Payment,
  ): 'pending' | 'submitted' | 'authorized' | 'approved' | 'declined' | 'cancelled' {
    const { nowMs } = this.#time
    if (nowMs >= (payment.approvesAfterAllAtMs ?? Number.POSITIVE_INFINITY)) return 'approved'
    if (payment.isCancelled) return 'cancelled'
    if (nowMs < payment.actsAtMs) return 'pending'
    if (nowMs < payment.endsAtMs) return 'submitted'
    if (!payment.captures || payment.end === 'declined') return payment.end
    const captures = [...payment.captures.values()].filter(({ isDeclined }) => !isDeclined)
    const isUnderWay = captures.some(({ endsAtMs }) => nowMs < endsAtMs)
    if (isUnderWay || (!payment.isReleased && nowMs < (payment.lapsesAtMs ?? 0))) return 'authorized'
    return captures.length > 0 ? 'approved' : 'cancelled'
  }

  #answerAboutRefund(refundId: string): object {
    const refund = this.refunds.get(refundId)
    if (!refund) return { status: 'unknown' }
    if (this.#time.nowMs < refund.endsAtMs) return { status: 'submitted', checkAfterSeconds: 600 }
    return refund.end === 'approved'
      ? { status: 'approved', reference: refundId }
      : { status: 'declined', reason: 'The account is closed.' }
  }

  /** Of an approval until it is heard, sometimes late and sometimes again; of anything else once, if at all. */
  async #notifyAfter(afterMs: number, transactionId: string): Promise<void> {
    await this.#wait(afterMs)
    if (this.#seeded.isLucky(0.3)) await this.#wait(this.#seeded.whole(second, 2 * hour))
    if (this.#seeded.isLucky(0.2)) void this.#send(transactionId, forgedSecret)
    const isApproved = this.isApproved(transactionId)
    const most = isApproved ? 100 : this.#seeded.whole(0, 2)
    for (let tries = 0; tries < most; tries++) {
      const heard = await this.#send(transactionId)
      if (isApproved && heard && !this.#seeded.isLucky(0.3)) return
      await this.#wait(this.#seeded.whole(second, 10 * minute))
    }
  }

  async #send(transactionId: string, secret?: string): Promise<boolean> {
    const isHeard = await this.#post({ type: 'payment.changed', transactionId }, secret)
    if (isHeard && secret !== undefined)
      this.contradictions.push(`a forged notification of ${transactionId} was heard`)
    return isHeard
  }

  async #post(notification: object, secret?: string): Promise<boolean> {
    const body = JSON.stringify(notification)
    const id = Buffer.from(this.#seeded.bytes(8)).toString('hex')
    const nowMs = this.#time.nowMs + this.#time.jumpedMs
    const headers = { ...signWebhook({ id, body }, { secrets: [secret ?? this.#secret], nowMs }) }
    return (await this.tell({ railId: bankRailId, headers, body })) === 'heard'
  }

  #wait(durationMs: number): Promise<void> {
    return this.#time.wait(this.#world, durationMs)
  }
}
