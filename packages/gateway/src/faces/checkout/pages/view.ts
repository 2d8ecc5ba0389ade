// What every page of the checkout is made from.
import type { Merchant } from '../../../merchants/rules/merchant.ts'
import type { Order } from '../../../orders/rules/order.ts'
import type { Language } from '../languages.ts'
import type { Note } from '../visit.ts'

export interface View {
  readonly language: Language
  readonly mode: 'sandbox' | 'live'
  readonly order: Order
  readonly merchant: Merchant
  /** Of this checkout, without the host; forms and links begin with it. */
  readonly path: string
  readonly nowMs: number
  readonly formToken: string
  readonly note: Note | undefined
  /** Whose wallet is signed in. */
  readonly wallet: SignedInWallet | undefined
}

export interface SignedInWallet {
  readonly name: string
  readonly login: string
  readonly availableMinor: bigint
}
