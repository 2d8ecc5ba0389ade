// What the wallet's pages are made of: pages that are shown and forms that are sent, as data; routes.ts puts each behind the
// same guard. A visit reaches one wallet, its own.

import type { FieldError } from '../../actions/read-input.ts'
import type { EmailLanguage } from '../../core/emails/rules/email.ts'
import type { Account } from '../../core/ledger/store/ledger.ts'
import type { ListScanned } from '../../core/orders/scans/list-scanned.ts'
import type { ShowPayCode } from '../../core/orders/scans/show-pay-code.ts'
import type { AuthenticateWallet } from '../../core/wallets/authenticate-wallet.ts'
import { isNewPin, type KnownDevice, type Wallet, weaknessOfPin } from '../../core/wallets/rules/wallet.ts'
import type { HistoryStore } from '../../core/wallets/store/history.ts'
import type { StartTopUp } from '../../finance/top-ups/start-top-up.ts'
import type { Passkeys } from '../../identity/accounts/passkeys.ts'
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
import type { Asset } from '../kit/assets.ts'
import type { Content, Html } from '../kit/html.ts'
import { fillText } from '../kit/languages/words.ts'
import type * as kit from '../kit/routes.ts'
import type { BaseVisit } from '../kit/routes.ts'
import type { Words } from './words.ts'

export const prefix = '/wallet'

/** The operations behind the wallet's pages and forms. */
export interface WalletOperations {
  readonly authenticateWallet: AuthenticateWallet
  readonly walletSessions: WalletSessions
  readonly walletPasskeys: Passkeys
  readonly signInByPasskey: SignInByPasskey
  readonly resetPin: ResetPin
  readonly changePin: ChangePin
  /** Undefined without email. */
  readonly askPinCode: AskPinCode | undefined
  readonly register: Register
  readonly startTopUp: StartTopUp
  readonly withdraw: Withdraw
  readonly closeWallet: CloseWallet
  readonly listWalletHistory: HistoryStore['list']
  readonly findHistoryEntry: HistoryStore['find']
  findRailName(railId: string, language: string): Promise<string>
  readonly showPayCode: ShowPayCode
  readonly listScanned: ListScanned
  readonly scanLimits: ReadonlyMap<string, bigint>
  readonly listPendingEntries: PendingEntries['list']
  findWallet(walletId: string): Promise<Wallet | undefined>
  listBalances(walletId: string): Promise<readonly Account[]>
  setWalletLanguage(walletId: string, language: EmailLanguage): Promise<void>
}

export interface RunningWallet {
  readonly operations: WalletOperations
  readonly secrets: CookieSecrets
  /** Shared with the checkout, so that a device known there is known here. */
  readonly devices: Pick<CheckoutVisits, 'rememberDevice' | 'rememberBrowser' | 'readDevice'>
}

/** A request of a consumer who is signed in. */
export interface Visit extends BaseVisit {
  readonly operations: WalletOperations
  /** The cookie of a browser that its owner uses; see the checkout. */
  readonly rememberDevice: CheckoutVisits['rememberDevice']
  readonly wallet: Wallet
  readonly session: WalletSession
  readonly language: Language
  readonly words: Words
  /** The name under which the operator appears to consumers. */
  readonly operator?: string | undefined
  /** Of this gateway's pages. */
  readonly origins: readonly string[]
  /** Of the browser's first language, if it names one: a hint to the consumer's currency. */
  readonly country: string | undefined
  /** As limits count it. */
  readonly address: string
  readonly device: KnownDevice | undefined
  /** A number for a form that is carried out once, however often it is sent. */
  readonly newNumber: () => string
  /** Undefined if too many PINs are being checked just now. Otherwise to be called at the end of the check. */
  readonly startProof: () => (() => void) | undefined
}

export type RefusalCode = keyof Words['refusals']

export type PageName = 'home' | 'history' | 'topUp' | 'withdraw' | 'settings'

export interface WalletPage {
  readonly title: Content
  readonly content: Html
  /** The page's entry in the navigation. */
  readonly at?: PageName
  readonly withPasskeyScript?: true
  /** In place of the script for times. */
  readonly script?: Asset
  /** Seconds until a browser without scripts refreshes. */
  readonly refreshSeconds?: number
}

export type Done = kit.Done<Visit, WalletPage>
export type Refusal = Extract<Done, { kind: 'refused' }>
export type WalletRoute = kit.Route<Visit, WalletPage>

/** Undefined: the new PIN can be set. */
export function refusalOfNewPin(pin: string, again: string | null): RefusalCode | undefined {
  if (!isNewPin(pin) || pin !== again) return 'pinUnfit'
  const weakness = weaknessOfPin(pin)
  return weakness && ({ repeated: 'pinRepeated', run: 'pinRun', date: 'pinDate' } as const)[weakness]
}

/** Isolates text from the direction of the text around it (Unicode FSI and PDI). */
const isolate = (text: string) => `\u2068${text}\u2069`

/** In the reader's words; `field` is the field to correct. */
export function refusal(
  words: Words,
  code: RefusalCode,
  {
    field,
    values = {},
  }: { readonly field?: string; readonly values?: Readonly<Record<string, string>> } = {},
): FieldError {
  const isolated = Object.entries(values).map(([name, value]) => [name, isolate(value)])
  return { field, message: fillText(words.refusals[code], Object.fromEntries(isolated)) }
}

export function refused({ words }: Pick<Visit, 'words'>, ...why: OfRefusal): Refusal {
  return { kind: 'refused', errors: [refusal(words, ...why)] }
}

type OfRefusal = Parameters<typeof refusal> extends [Words, ...infer Rest] ? Rest : never
