// What only a gateway in sandbox mode can do: pay as a consumer would, and let time pass for one order. Unlike the
// other operations these are not safe to repeat.
import type { SandboxAnswer, SandboxPay } from '@tillgate/protocol'
import { expectTexts } from './answers.ts'
import type { Caller } from './call.ts'
import type { CallOptions } from './options.ts'
import { serialise } from './serialise.ts'

export interface Sandbox {
  /**
   * Pays an order as a test consumer would; `success` and `failed` follow after a moment of `confirming`. In live
   * this is an InvalidRequestError (40401). It is not retried: the second payment of an order is a ConflictError.
   *
   * @example
   * await tillgate.sandbox.pay({ paymentId, outcome: 'success' })
   */
  pay(payment: SandboxPay, options?: Omit<CallOptions, 'maxRetries'>): Promise<SandboxAnswer>

  /**
   * Moves all times of one order into the past, so that its expiry and its callbacks' retries come sooner. It is
   * not retried: twice would be twice as far.
   *
   * @example
   * await tillgate.sandbox.advance({ paymentId, milliseconds: 30 * 60_000 })
   */
  advance(
    advance: { readonly paymentId: string; readonly milliseconds: number },
    options?: Omit<CallOptions, 'maxRetries'>,
  ): Promise<SandboxAnswer>
}

export function makeSandbox({ call }: Caller): Sandbox {
  return {
    async pay({ paymentId, outcome }, options) {
      const body = () => serialise({ paymentId, outcome })
      const data = await call('service.sandbox.pay', body, { ...options, maxRetries: 0 })
      return expectTexts<SandboxAnswer>(data, ['paymentId', 'status'])
    },
    async advance({ paymentId, milliseconds }, options) {
      const body = () => serialise({ paymentId, milliseconds })
      const data = await call('service.sandbox.advance', body, { ...options, maxRetries: 0 })
      return expectTexts<SandboxAnswer>(data, ['paymentId', 'status'])
    },
  }
}
