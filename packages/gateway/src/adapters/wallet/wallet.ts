// What the wallet's pages are made of: pages that are shown and forms that are sent, as data; routes.ts puts each behind the
// same guard. A visit reaches one wallet, its own.

import type { EmailLanguage } from '../../core/emails/rules/email.ts'
import type { Account } from '../../core/ledger/store/ledger.ts'
import type { AuthenticateWallet } from '../../core/wallets/authenticate-wallet.ts'
import { isNewPin, type KnownDevice, type Wallet, weaknessOfPin } from '../../core/wallets/rules/wallet.ts'
import type { HistoryStore } from '../../core/wallets/store/history.ts'
import type { StartTopUp } from '../../finance/top-ups/start-top-up.ts'
import type { Passkeys } from '../../identity/accounts/passkeys.ts'
import type { PasskeySite } from '../../identity/accounts/rules/passkey.ts'
import type { AskPinCode } from '../../identity/consumers/ask-pin-code.ts'
import type { ChangePin } from '../../identity/consumers/change-pin.ts'
import type { CloseWallet } from '../../identity/consumers/close-wallet.ts'
import type { Register } from '../../identity/consumers/register.ts'
import type { ResetPin } from '../../identity/consumers/reset-pin.ts'
import type { SignInByPasskey } from '../../identity/consumers/sign-in-by-passkey.ts'
import type { PendingEntries } from '../../identity/consumers/store/pending-entries.ts'
import type { WalletSession } from '../../identity/consumers/store/wallet-sessions.ts'
import type { WalletSessions } from '../../identity/consumers/wallet-sessions.ts'
import type { Withdraw } from '../../identity/consumers/withdraw.ts'
import type { Language } from '../checkout/languages.ts'
import type { Visits as CheckoutVisits } from '../checkout/visit.ts'
import type { CookieSecrets } from '../kit/accounts/cookies.ts'
import type { Content, Html } from '../kit/html.ts'
import type { Words } from './words.ts'

export const prefix = '/wallet'

/** What the pages need from the gateway, once the database is there. */
export interface WalletService extends CookieSecrets {
  readonly authenticate: AuthenticateWallet
  readonly sessions: WalletSessions
  readonly passkeys: Passkeys
  readonly signInByPasskey: SignInByPasskey
  readonly resetPin: ResetPin
  readonly changePin: ChangePin
  /** Undefined without mail. */
  readonly askPinCode: AskPinCode | undefined
  /** Undefined where nobody may register. */
  readonly register: Register | undefined
  readonly startTopUp: StartTopUp
  readonly withdraw: Withdraw
  readonly closeWallet: CloseWallet
  readonly history: HistoryStore
  readonly pending: PendingEntries
  /** The same as at the checkout: a device that is known there is known here. */
  readonly devices: Pick<CheckoutVisits, 'rememberDevice' | 'rememberBrowser' | 'readDevice'>
  findWallet(walletId: string): Promise<Wallet | undefined>
  listBalances(walletId: string): Promise<readonly Account[]>
  setLanguage(walletId: string, language: EmailLanguage): Promise<void>
}

/** A request of somebody who is signed in. */
export interface Visit {
  readonly service: WalletService
  readonly wallet: Wallet
  readonly session: WalletSession
  readonly language: Language
  readonly words: Words
  /** The name under which the operator appears to consumers. */
  readonly operator?: string | undefined
  readonly formToken: string
  /** Undefined: no passkeys can be made here. */
  readonly site: PasskeySite | undefined
  readonly nowMs: number
  /** As limits count it. */
  readonly address: string
  readonly device: KnownDevice | undefined
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** A number for a form that is to be done once, however often it is sent. */
  readonly newNumber: () => string
  /** Undefined: too many PINs are looked at just now. Otherwise to be called when it is over. */
  readonly startProof: () => (() => void) | undefined
  /** A form of this page was sent, and could not be done. */
  readonly refused?: Refused | undefined
}

export type RefusalCode = keyof Words['refusals']

export interface Refusal {
  readonly code: RefusalCode
  readonly field?: string | undefined
  readonly values?: Readonly<Record<string, Content>>
}

export interface Refused extends Refusal {
  readonly typed: URLSearchParams
}

export type PageName = 'home' | 'history' | 'topUp' | 'withdraw' | 'settings'

export interface WalletPage {
  readonly title: Content
  readonly content: Html
  /** Which of the navigation it belongs to. */
  readonly at?: PageName
  readonly withPasskeyScript?: true
}

export type Done =
  | {
      readonly kind: 'go'
      readonly to: string
      readonly flash?: string
      /** As a header sets it. */
      readonly cookie?: string
    }
  /** In answer to this form alone. */
  | { readonly kind: 'shown'; readonly page: WalletPage }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The session is over. */
  | { readonly kind: 'left'; readonly to: string; readonly flash?: string }

export interface WalletView {
  /** Below the prefix. */
  readonly path: string
  /** Undefined: there is no such thing. */
  readonly show: (visit: Visit) => Promise<WalletPage | undefined>
}

export interface WalletAct {
  readonly path: string
  readonly act: (visit: Visit, form: URLSearchParams) => Promise<Done>
  /** The page that comes back when it is refused. */
  readonly back: WalletView['show']
}

/** A file to keep. */
export interface WalletFile {
  readonly path: string
  /** Undefined: there is no such thing. */
  readonly file: (
    visit: Visit,
  ) => Promise<{ readonly type: string; readonly name: string; readonly bytes: Buffer } | undefined>
}

export type WalletRoute = WalletView | WalletAct | WalletFile

/** Undefined: the new PIN can be set. */
export function refusalOfNewPin(pin: string, again: string | null): RefusalCode | undefined {
  if (!isNewPin(pin) || pin !== again) return 'pinUnfit'
  const weakness = weaknessOfPin(pin)
  return weakness && ({ repeated: 'pinRepeated', run: 'pinRun', date: 'pinDate' } as const)[weakness]
}

export function refused(code: RefusalCode, given: Omit<Refusal, 'code'> = {}): Done {
  return { kind: 'refused', refusal: { code, ...given } }
}
