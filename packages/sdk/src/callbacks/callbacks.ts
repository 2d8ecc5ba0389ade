// Callbacks for merchants: open, respond, resend.
import type { CallbackAnswer as ResendAnswer } from '@tillgate/protocol'
import { expectTexts } from '../answers.ts'
import type { Caller } from '../call.ts'
import type { Keyring } from '../credentials.ts'
import type { CallOptions } from '../options.ts'
import { serialise } from '../serialise.ts'
import { adapt, type CallbackHandler } from './adapters.ts'
import { type CallbackListener, type HandlerOptions, makeAnswer } from './answer.ts'
import type { CallbackEvent } from './event.ts'
import { type RawBody, type UnwrapOptions, unwrap } from './unwrap.ts'

export interface Callbacks {
  /**
   * Verifies and decrypts a callback. Rejects with a CallbackVerificationError if it is not from the gateway.
   *
   * @example
   * const event = await tillgate.callbacks.unwrap(rawBody)
   * if (event.kind === 'order' && event.result.status === 'success') deliver(event.result.referOrderNo)
   */
  unwrap(rawBody: RawBody, options?: UnwrapOptions): Promise<CallbackEvent>

  /**
   * A handler for the callback address: verifies, calls your function, and returns `{"code":20000,"msg":""}`. If your
   * function throws or rejects, the handler returns 500, and the gateway sends the callback again later.
   *
   * @example
   * const handler = tillgate.callbacks.handler(async (event) => {
   *   if (event.kind === 'order') await saveStatus(event.result.referOrderNo, event.result.status)
   * })
   * app.post('/callbacks', handler.express)
   */
  handler(listener: CallbackListener, options?: HandlerOptions): CallbackHandler

  /**
   * Resends an order's callbacks. Returns the number of queued callbacks.
   *
   * @example
   * const { queued } = await tillgate.callbacks.resend(paymentId)
   */
  resend(paymentId: string, options?: CallOptions): Promise<ResendAnswer>
}

export function makeCallbacks({ call, now }: Caller, keyring: Keyring): Callbacks {
  const open = (rawBody: RawBody, options: UnwrapOptions = {}) =>
    unwrap(rawBody, { ...options, keyring, now })
  return {
    unwrap: open,
    handler(listener, options = {}) {
      return adapt(makeAnswer({ ...options, listener, unwrap: (rawBody) => open(rawBody, options) }))
    },
    async resend(paymentId, options) {
      const data = await call('service.trade.callback', () => serialise({ paymentId }), options)
      const { queued, warnings } = expectTexts<ResendAnswer>(data, ['paymentId'])
      return { paymentId, queued: Number(queued), ...(warnings && { warnings }) }
    },
  }
}
