// A call to Stripe whose outcome is certain: the result, or a rejection that did nothing.
import { ProviderUnavailable } from '@tillgate/rail-kit/provider'
import { shortened } from '@tillgate/rail-kit/text'
import Stripe from 'stripe'

/** Stripe rejected the request, so nothing was created. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly reason: string

  constructor(cause: Stripe.errors.StripeError) {
    super(cause.message, { cause })
    this.reason = shortened(cause.message)
  }
}

/** A call with a certain outcome. Any other call is repeated with the same key. */
export async function known<Result>(call: Promise<Result>): Promise<Result> {
  try {
    const result = await call
    // The SDK returns a body without `error`, whatever the HTTP status.
    const isObject = typeof result === 'object' && result !== null
    if (isObject && !('id' in result || 'status' in result || 'data' in result))
      throw new ProviderUnavailable('Stripe returned something else than an answer')
    return result
  } catch (error) {
    if (error instanceof ProviderUnavailable) throw error
    const { StripeError, StripeInvalidRequestError, StripeCardError } = Stripe.errors
    const isRefused = error instanceof StripeInvalidRequestError || error instanceof StripeCardError
    // 409: a request with the same key is in progress.
    if (isRefused && error.statusCode !== 409) throw new Refused(error)
    if (error instanceof StripeError)
      throw new ProviderUnavailable(`${error.type}: ${error.message}`, { cause: error })
    // For example, a proxy's page instead of JSON.
    throw new ProviderUnavailable('Stripe returned something else than an answer', { cause: error })
  }
}
