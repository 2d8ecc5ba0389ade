// Stripe's captures: a PaymentIntent is captured once, and Stripe releases the rest. The intent itself has the captureId, so
// a repeat is recognized also after Stripe has forgotten the idempotency key.
import type { CaptureMessageOf, RailCaptureAnswer } from '@tillgate/protocol'
import type { ProviderCaptures, ProviderPayment, StoredPayment } from '@tillgate/rail-kit/provider'
import type Stripe from 'stripe'
import { amountAtStripe, exactNumber } from './amounts.ts'
import { known, Refused } from './stripe-call.ts'

export class StripeCaptures implements ProviderCaptures {
  readonly #stripe: Stripe
  readonly #read: (payment: { readonly providerId: string }) => Promise<ProviderPayment>

  constructor(stripe: Stripe, read: (payment: { readonly providerId: string }) => Promise<ProviderPayment>) {
    this.#stripe = stripe
    this.#read = read
  }

  async capture(
    asked: CaptureMessageOf<'payment.capture'>,
    payment: StoredPayment & { readonly providerId: string },
  ): Promise<RailCaptureAnswer> {
    const { captureId, amountMinor, currency, final } = asked
    const { reference } = payment
    if (reference === undefined) return { status: 'declined', reason: 'No money is reserved.' }
    const intent = await known(this.#stripe.paymentIntents.retrieve(reference))
    if (intent.metadata['captureId'] === captureId && intent.status === 'succeeded')
      return { status: 'approved', amountMinor, reference }
    if (intent.status !== 'requires_capture')
      return { status: 'declined', reason: 'No money is reserved any more.' }
    if (!final) return { status: 'declined', reason: 'Stripe captures a payment once. Send final: true.' }
    try {
      const amount = exactNumber(amountAtStripe({ amountMinor: BigInt(amountMinor), currency }))
      const captured = { amount_to_capture: amount, metadata: { captureId } }
      await known(this.#stripe.paymentIntents.capture(reference, captured, { idempotencyKey: captureId }))
      return { status: 'approved', amountMinor, reference }
    } catch (error) {
      if (error instanceof Refused) return { status: 'declined', reason: error.reason }
      throw error
    }
  }

  async release(payment: StoredPayment & { readonly providerId: string }): Promise<ProviderPayment> {
    const { transactionId, reference = '' } = payment
    try {
      const options = { idempotencyKey: `${transactionId} release` }
      await known(this.#stripe.paymentIntents.cancel(reference, {}, options))
    } catch (error) {
      // Captured or cancelled already. Its state shows which.
      if (!(error instanceof Refused)) throw error
    }
    return this.#read(payment)
  }
}
