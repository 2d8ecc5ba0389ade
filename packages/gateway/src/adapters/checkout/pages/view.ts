// What every page of the checkout is made from.
import type { NextAction } from '@tillgate/protocol'
import type { Merchant } from '../../../core/merchants/rules/merchant.ts'
import type { Order } from '../../../core/orders/rules/order.ts'
import type { BrokenLimit } from '../../../core/wallets/rules/limits.ts'
import type { PasskeySite } from '../../../identity/accounts/rules/passkey.ts'
import type { Language } from '../languages.ts'
import type { Note } from '../visit.ts'
import type { Site } from './frame.ts'

export interface View extends Site {
  readonly language: Language
  readonly order: Order
  readonly merchant: Merchant
  /** Of this checkout, without the host; forms and links begin with it. */
  readonly path: string
  readonly nowMs: number
  readonly formToken: string
  readonly note: Note | undefined
  /** Whose wallet is signed in. */
  readonly wallet: SignedInWallet | undefined
  /** Signed in at /wallet: the PIN or a passkey is all that is missing. */
  readonly visitor: (SignedInWallet & Pick<WalletVisitor, 'sessionId'> & ShownPasskey) | undefined
  /** The consumer asked to use another wallet than the one that is signed in. */
  readonly isOtherWallet: boolean
  /** The most that wallets pay at once, where they have no limit of their own. */
  readonly walletLimitMinor: bigint | undefined
  readonly rails: ShownRails
  readonly isReceiptOffered: boolean
  /** Consumers have pages of their own. */
  readonly hasWalletPages: boolean
}

/** The rails of a pending order: those to choose from, and the attempt that is open; of one that is over: money that came late. */
export interface ShownRails {
  readonly offered: readonly OfferedRail[]
  readonly open?: ShownAttempt | undefined
  /** Its name, where the last attempt was declined. */
  readonly declinedBy?: string | undefined
  readonly late?: LateMoney | undefined
  /** Its name, while it processes the payment. */
  readonly processing?: string | undefined
}

/**
 * Through a rail after the order had ended: left to an operator, on its way back, back, or the rail has yet to say whether
 * there is any.
 */
export interface LateMoney {
  readonly name: string
  readonly status: 'held' | 'returning' | 'returned' | 'asking'
}

export interface OfferedRail {
  readonly railId: string
  readonly name: string
  readonly logo: string | undefined
}

export interface ShownAttempt {
  readonly name: string
  readonly status: string
  /** Undefined while the rail is asked, or where the consumer has done their part. */
  readonly nextAction: NextAction | undefined
  /** It is being cancelled. */
  readonly isLeaving: boolean
}

/** The session of a consumer at /wallet. */
export interface WalletVisitor {
  readonly sessionId: string
  readonly walletId: string
  readonly login: string
  readonly accessVersion: number
}

interface ShownPasskey {
  /** Undefined: the wallet has no passkey, or it cannot be used at this address. */
  readonly passkeySite: PasskeySite | undefined
}

export interface SignedInWallet {
  readonly name: string
  readonly login: string
  readonly availableMinor: bigint
  readonly overLimit: BrokenLimit | undefined
}
