// Captures and releases, for providers that reserve money. The provider knows what was captured, so nothing is stored but
// the payment's status.
import {
  type CaptureMessage,
  Failure,
  type RailCaptureAnswer,
  type RailPaymentAnswer,
} from '@tillgate/protocol'
import {
  type PaymentStart,
  type Provider,
  type ProviderPayment,
  ProviderUnavailable,
  type StoredPayment,
} from './provider.ts'
import type { RailStore } from './store/rail-store.ts'
import type { InTurn } from './turns.ts'

type Started = StoredPayment & { readonly providerId: string }

export interface CaptureParts {
  readonly provider: Provider
  readonly store: RailStore
  readonly inTurn: InTurn
  /** Asks the provider if the payment may have changed. */
  readonly bringUpToDate: (payment: StoredPayment) => Promise<RailPaymentAnswer>
  readonly settle: (payment: StoredPayment, said: ProviderPayment) => Promise<RailPaymentAnswer>
}

/** Undefined if the provider can reserve the money, or need not. */
export function whyNotReserved(provider: Provider, { captureMode }: PaymentStart): string | undefined {
  return captureMode && !provider.captures ? `${provider.name} reserves no money.` : undefined
}

export function makeCaptures({ provider, store, inTurn, bringUpToDate, settle }: CaptureParts) {
  return (message: CaptureMessage): Promise<RailCaptureAnswer | RailPaymentAnswer> => {
    const { captures } = provider
    if (!captures) throw new Failure('invalid_field', { message: `${provider.name} captures nothing.` })
    const { transactionId } = message
    return inTurn(transactionId, async () => {
      const found = await store.findPayment(transactionId)
      const isStarted = (payment: StoredPayment | undefined): payment is Started =>
        payment?.providerId !== undefined && payment.start.captureMode !== undefined
      if (message.type === 'payment.capture') {
        if (!isStarted(found)) return { status: 'declined', reason: 'No money is reserved.' }
        const captured = await captures.capture(message, found)
        if (captured.status === 'approved') await settle(found, await provider.readPayment(found))
        return captured
      }
      if (!found) return { status: 'unknown' }
      const current = await bringUpToDate(found)
      const released =
        current.status === 'authorized' && isStarted(found)
          ? await settle(found, await captures.release(found))
          : current
      if (released.status === 'pending' || released.status === 'submitted')
        throw new ProviderUnavailable('the provider is still processing the payment')
      return released
    })
  }
}
