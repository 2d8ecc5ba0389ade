// The data from which every checkout page is rendered.
import type { NextAction } from '@tillgate/protocol'
import type { Merchant } from '../../../core/merchants/rules/merchant.ts'
import type { Order } from '../../../core/orders/rules/order.ts'
import type { BrokenLimit } from '../../../core/wallets/rules/limits.ts'
import type { PasskeySite } from '../../../identity/accounts/rules/passkey-site.ts'
import type { Language } from '../languages.ts'
import type { Note } from '../visit.ts'
import type { Site } from './frame.ts'

export interface View extends Site {
  readonly language: Language
  readonly order: Order
  readonly merchant: Merchant
  /** The path of this checkout, which forms and links start with. */
  readonly path: string
  readonly nowMs: number
  readonly formToken: string
  readonly note: Note | undefined
  /** The signed-in wallet. */
  readonly wallet: SignedInWallet | undefined
  /** Signed in at /wallet; only the PIN or a passkey is missing. */
  readonly visitor: (SignedInWallet & Pick<WalletVisitor, 'sessionId'> & ShownPasskey) | undefined
  /** The consumer chose to use a different wallet. */
  readonly isOtherWallet: boolean
  /** The default limit of wallets for one payment. */
  readonly walletLimitMinor: bigint | undefined
  readonly rails: ShownRails
  readonly isReceiptOffered: boolean
  /** Whether consumers have wallet pages. */
  readonly hasWalletPages: boolean
}

/** For a pending order: the rails to choose from, and the open attempt. For an ended one: late money. */
export interface ShownRails {
  readonly offered: readonly OfferedRail[]
  readonly open?: ShownAttempt | undefined
  /** If the last attempt was declined: the rail's name, and the reason that it gave for the consumer. */
  readonly declined?: { readonly name: string; readonly reason: string | undefined } | undefined
  readonly late?: LateMoney | undefined
  /** The rail's name while it processes the payment. */
  readonly processing?: string | undefined
}

/**
 * Money that arrived through a rail after the order ended: held for an operator, being returned, returned, or not yet
 * confirmed by the rail.
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
  /** Undefined while the rail is asked, or after the consumer completed the step. */
  readonly nextAction: NextAction | undefined
  /** The attempt is being cancelled. */
  readonly isLeaving: boolean
}

/** A consumer's session at /wallet. */
export interface WalletVisitor {
  readonly sessionId: string
  readonly walletId: string
  readonly login: string
  readonly accessVersion: number
}

interface ShownPasskey {
  /** Undefined if the wallet has no passkey, or it cannot be used at this address. */
  readonly passkeySite: PasskeySite | undefined
}

export interface SignedInWallet {
  readonly name: string
  readonly login: string
  readonly availableMinor: bigint
  readonly overLimit: BrokenLimit | undefined
}
