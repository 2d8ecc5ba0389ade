// A bank outside of the gateway that is killed, which never dies itself: it speaks the rail protocol over a real socket,
// approves what it was asked to take a moment ago, and knows what it has taken and given back.
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import type { RailMessage } from '@tillgate/protocol'
import { systemClock } from '../../packages/gateway/src/platform/runtime/clock.ts'
import { commandScript } from '../../packages/gateway/test/support/process.ts'
import { TestBank } from '../../packages/gateway/test/support/rails.ts'
import { bankRailId } from '../simulation/bank.ts'
import type { BankRecord } from '../simulation/invariants/bank.ts'

/** How long the consumer takes there: long enough to be killed in the middle. */
const actsAfterMs = 300

export class CrashBank implements BankRecord {
  readonly #bank = new TestBank(systemClock)
  readonly payments = new Map<string, { readonly amountMinor: bigint; readonly approvedAtMs: number }>()
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
      [commandScript, ...args, '--currencies', 'EUR', '--reason', 'kill cycles', '--json'],
      { cwd: tmpdir(), env: { PATH: process.env['PATH'], ...environment } },
    )
    // Safe: it is what the command prints.
    made.#bank.secrets.push((JSON.parse(stdout) as { secret: string }).secret)
    return made
  }

  isApproved(transactionId: string): boolean {
    return Date.now() >= (this.payments.get(transactionId)?.approvedAtMs ?? Number.POSITIVE_INFINITY)
  }

  refundedMinor(transactionId: string): bigint {
    return [...this.#refunds.values()]
      .filter((refund) => refund.transactionId === transactionId)
      .reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
  }

  close(): void {
    this.#bank.close()
  }

  #answer(message: RailMessage): object {
    switch (message.type) {
      case 'payment.start': {
        const { transactionId, amountMinor } = message
        if (!this.payments.has(transactionId))
          this.payments.set(transactionId, {
            amountMinor: BigInt(amountMinor),
            approvedAtMs: Date.now() + actsAfterMs,
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

  /** The consumer is about to pay, so that nothing is cancelled any more. */
  #answerAbout(transactionId: string): object {
    if (!this.payments.has(transactionId)) return { status: 'unknown' }
    if (this.isApproved(transactionId)) return { status: 'approved', reference: transactionId }
    return { status: 'submitted', checkAfterSeconds: 1 }
  }
}
