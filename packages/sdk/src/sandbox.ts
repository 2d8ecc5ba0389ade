// Functions of gateways in sandbox mode: pay as a consumer, advance one order's time, and receive callbacks without a
// public address. Unlike all other operations, paying and advancing are not safe to repeat.
import type {
  SandboxAnswer,
  SandboxListenAnswer,
  SandboxPay,
  SandboxRequestsAnswer,
} from '@tillgate/protocol'
import { expectTexts } from './answers.ts'
import type { Caller } from './call.ts'
import { UnexpectedAnswerError } from './errors.ts'
import type { CallOptions } from './options.ts'
import { serialise } from './serialise.ts'

export interface Sandbox {
  /**
   * Pays an order as a test consumer would; `success` and `failed` follow after a moment of `confirming`. In live
   * this is an InvalidRequestError (40401). It is not retried: the second payment of an order is a ConflictError.
   *
   * @example
   * await tillgate.sandbox.pay({ paymentId, outcome: 'success' })
   *
   * With a rail instead of an outcome, it starts a payment through that rail, as a consumer does at the checkout, and
   * returns the consumer's next step.
   *
   * @example
   * const { nextAction } = await tillgate.sandbox.pay({ paymentId, rail: 'bank' })
   */
  pay(payment: SandboxPay, options?: Omit<CallOptions, 'maxRetries'>): Promise<SandboxAnswer>

  /**
   * Moves the gateway's times of one order into the past, so that its expiry and its callbacks' retries come sooner;
   * your own times stay. It is not retried, because a second call would advance again.
   *
   * @example
   * await tillgate.sandbox.advance({ paymentId, milliseconds: 30 * 60_000 })
   */
  advance(
    advance: {
      /** The order to advance. */
      readonly paymentId: string
      /** How far, at most 30 days. */
      readonly milliseconds: number
    },
    options?: Omit<CallOptions, 'maxRetries'>,
  ): Promise<SandboxAnswer>

  /**
   * Receives callbacks over a connection that you open, for a program that the gateway cannot reach. Waits up to
   * `waitMs` for the first; call again with the returned `after`. Without `after`, it only returns the current
   * position. `till listen` does all of this and forwards them.
   *
   * @example
   * const { callbacks, after } = await tillgate.sandbox.listen({ after: last, waitMs: 8_000 })
   * for (const { envelope } of callbacks) await handler.answer(envelope)
   */
  listen(
    from: {
      /** The `after` of the previous response. */
      readonly after?: string
      /** The maximum wait if there is no callback yet. No wait by default. */
      readonly waitMs?: number
    },
    options?: CallOptions,
  ): Promise<SandboxListenAnswer>

  /**
   * Acknowledges a callback that your program has processed: it counts as delivered.
   *
   * @example
   * await tillgate.sandbox.acknowledge({ callbackId: event.id, forwardedTo: 'http://localhost:3000/', durationMs: 5 })
   */
  acknowledge(
    taken: {
      /** The `id` of its event. */
      readonly callbackId: string
      /** The address that returned HTTP 200. */
      readonly forwardedTo: string
      /** The duration of the request. */
      readonly durationMs: number
      /** The beginning of the response, on one line. */
      readonly answer?: string
    },
    options?: CallOptions,
  ): Promise<void>

  /**
   * Your own rejected or slow requests of the last 7 days, newest first; or one by its `requestId`.
   *
   * @example
   * const { requests } = await tillgate.sandbox.requests({ requestId: error.requestId })
   */
  requests(
    wanted?: { readonly requestId?: string; readonly limit?: number },
    options?: CallOptions,
  ): Promise<SandboxRequestsAnswer>
}

export function makeSandbox({ call }: Caller): Sandbox {
  return {
    async pay({ paymentId, outcome, rail }, options) {
      const body = () =>
        serialise({
          paymentId,
          ...(outcome !== undefined && { outcome }),
          ...(rail !== undefined && { rail }),
        })
      const data = await call('service.sandbox.pay', body, { ...options, maxRetries: 0 })
      return expectTexts<SandboxAnswer>(data, ['paymentId', 'status'])
    },
    async advance({ paymentId, milliseconds }, options) {
      const body = () => serialise({ paymentId, milliseconds })
      const data = await call('service.sandbox.advance', body, { ...options, maxRetries: 0 })
      return expectTexts<SandboxAnswer>(data, ['paymentId', 'status'])
    },
    async listen({ after, waitMs }, options) {
      const body = () =>
        serialise({ ...(after !== undefined && { after }), ...(waitMs !== undefined && { waitMs }) })
      const answer = expectTexts<SandboxListenAnswer>(await call('service.sandbox.listen', body, options), [
        'after',
      ])
      if (!Array.isArray(answer.callbacks)) {
        throw new UnexpectedAnswerError('The gateway answered success without callbacks.', {
          httpStatus: 200,
        })
      }
      return answer
    },
    async acknowledge(taken, options) {
      await call('service.sandbox.acknowledge', () => serialise(taken), options)
    },
    async requests(wanted = {}, options) {
      const answer = await call('service.sandbox.requests', () => serialise(wanted), options)
      const { requests } = answer as Partial<SandboxRequestsAnswer>
      if (Array.isArray(requests)) return { requests }
      throw new UnexpectedAnswerError('The gateway answered success without requests.', { httpStatus: 200 })
    },
  }
}
