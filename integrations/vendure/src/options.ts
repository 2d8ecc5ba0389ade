import type { Credentials } from '@tillgate/sdk'

export interface TillgateOptions {
  /** As the gateway gave them out; or the path of the file that a sandbox writes. */
  readonly credentials: Credentials | string
  /** Where the gateway and consumers reach this Vendure: the origin before /payments/tillgate. */
  readonly vendureUrl: string
  /** Where the consumer is sent in the end: a page of the storefront, which gets the order's code as `?order=`. */
  readonly returnUrl: string
  /** What the checkout calls the order; "Order" when left out. */
  readonly description?: string
  /** For how long a payment can be made, 5 to 1,440 minutes; 60 when left out. */
  readonly expiryMinutes?: number
}

/** What Vendure injects the options by. */
export const tillgateOptions = Symbol('The options of TillgatePlugin')
