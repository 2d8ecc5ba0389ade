// A bank outside of the gateway that is killed, which never dies itself: it speaks the rail protocol over a real socket,
// approves what it was asked to take a moment ago, and knows what it has taken and given back.
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import type { CaptureMessage, CaptureMessageOf, RailMessage } from '@tillgate/protocol'
import { systemClock } from '../../packages/gateway/src/platform/runtime/clock.ts'
import { commandScript } from '../../packages/gateway/test/support/process.ts'
import { TestBank } from '../../packages/gateway/test/support/rails.ts'
import { bankRailId } from '../simulation/bank.ts'
import type { BankRecord } from '../simulation/invariants/bank.ts'

/** How long the consumer takes there: long enough to be killed in the middle. */
const actsAfterMs = 300

interface Payment {
  readonly amountMinor: bigint
  readonly approvedAtMs: number
  /** Reserved until it is captured or released. */
  readonly isManual: boolean
  readonly captures: Map<string, bigint>
  isOver: boolean
}

export class CrashBank implements BankRecord {
  readonly #bank = new TestBank(systemClock)
  readonly payments = new Map<string, Payment>()
  readonly #refunds = new Map<string, { readonly transactionId: string; readonly amountMinor: bigint }>()
  readonly contradictions: string[] = []

  /** Of a gateway that is ready: it knows the bank from then on. */
  static async open(environment: Readonly<Record<string, string>>): Promise<CrashBank> {
    const made = new CrashBank()
    await made.#bank.open()
    made.#bank.says = (message) => made.#answer(message)
    const args = ['rail', 'add', '--id', bankRailId, '--name', 'Bank', '--url', made.#bank.url]
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        commandScript,
        ...args,
        '--currencies',
        'EUR',
        '--authorization-days',
        '7',
        '--reason',
        'kill cycles',
        '--json',
      ],
      { cwd: tmpdir(), env: { PATH: process.env['PATH'], ...environment } },
    )
    // Safe: it is what the command prints.
    made.#bank.secrets.push((JSON.parse(stdout) as { secret: string }).secret)
    return made
  }

  takenMinor(transactionId: string): bigint {
    const payment = this.payments.get(transactionId)
    if (!payment || Date.now() < payment.approvedAtMs) return 0n
    return payment.isManual ? capturedOf(payment) : payment.amountMinor
  }

  refundedMinor(transactionId: string): bigint {
    return [...this.#refunds.values()]
      .filter((refund) => refund.transactionId === transactionId)
      .reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
  }

  close(): void {
    this.#bank.close()
  }

  #answer(message: RailMessage | CaptureMessage): object {
    switch (message.type) {
      case 'payment.capture':
        return this.#capture(message)
      case 'payment.release': {
        const payment = this.payments.get(message.transactionId)
        if (payment) payment.isOver = true
        return this.#answerAbout(message.transactionId)
      }
      case 'payment.start': {
        const { transactionId, amountMinor } = message
        if (!this.payments.has(transactionId))
          this.payments.set(transactionId, {
            amountMinor: BigInt(amountMinor),
            approvedAtMs: Date.now() + actsAfterMs,
            isManual: message.captureMode === 'manual',
            captures: new Map(),
            isOver: false,
          })
        return this.#answerAbout(transactionId)
      }
      case 'payment.status':
      case 'payment.cancel':
        return this.#answerAbout(message.transactionId)
      case 'refund.start':
        this.#refunds.set(message.refundId, { ...message, amountMinor: BigInt(message.amountMinor) })
        return { status: 'approved', reference: message.refundId }
      case 'refund.status':
        return this.#refunds.has(message.refundId)
          ? { status: 'approved', reference: message.refundId }
          : { status: 'unknown' }
    }
  }

  #capture({ captureId, transactionId, amountMinor, final }: CaptureMessageOf<'payment.capture'>): object {
    const payment = this.payments.get(transactionId)
    const earlierMinor = payment?.captures.get(captureId)
    if (earlierMinor !== undefined) return { status: 'approved', amountMinor: earlierMinor.toString() }
    const minor = BigInt(amountMinor)
    if (!payment || payment.isOver || capturedOf(payment) + minor > payment.amountMinor) {
      this.contradictions.push(`capture ${captureId} takes more than is reserved`)
      return { status: 'declined', reason: 'Too much.' }
    }
    payment.captures.set(captureId, minor)
    payment.isOver = final
    return { status: 'approved', amountMinor }
  }

  /** The consumer is about to pay, so that nothing is cancelled any more. */
  #answerAbout(transactionId: string): object {
    const payment = this.payments.get(transactionId)
    if (!payment) return { status: 'unknown' }
    if (Date.now() < payment.approvedAtMs) return { status: 'submitted', checkAfterSeconds: 1 }
    const reference = transactionId
    if (!payment.isManual) return { status: 'approved', reference }
    if (!payment.isOver) return { status: 'authorized', reference }
    return capturedOf(payment) > 0n ? { status: 'approved', reference } : { status: 'cancelled' }
  }
}

function capturedOf({ captures }: Payment): bigint {
  return [...captures.values()].reduce((sum, minor) => sum + minor, 0n)
}
