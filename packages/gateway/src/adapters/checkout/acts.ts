// What a consumer does on the checkout page. Each action returns cookies: a session, or a note for the next page. The
// order's status guards the payment, so that two clicks, two tabs or two people never pay twice.
import type { OrderStatus } from '@tillgate/protocol'
import { normaliseEmail } from '../../core/emails/rules/email.ts'
import type { Merchant } from '../../core/merchants/rules/merchant.ts'
import type { AskReceipt } from '../../core/orders/ask-receipt.ts'
import type { PayingWallet, SubmitPayment } from '../../core/orders/payments/submit-payment.ts'
import type { Order } from '../../core/orders/rules/order.ts'
import type { AuthenticateWallet, SignIn } from '../../core/wallets/authenticate-wallet.ts'
import { type Behaviour, behaviours, isNewPin, weaknessOfPin } from '../../core/wallets/rules/wallet.ts'
import type { PayByRail, RailPaymentOutcome } from '../../finance/rails/pay-by-rail.ts'
import type { PasskeySite } from '../../identity/accounts/rules/passkey-site.ts'
import type { ResetPin } from '../../identity/consumers/reset-pin.ts'
import type { SignInByPasskey } from '../../identity/consumers/sign-in-by-passkey.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
import { bankChoices, type makeChooseAtTestBank } from '../../sandbox/test-bank.ts'
import type { Language } from './languages.ts'
import type { WalletVisitor } from './pages/view.ts'
import type { Note, Visit, Visits } from './visit.ts'

type ChooseAtTestBank = ReturnType<typeof makeChooseAtTestBank>

export interface ActsParts {
  readonly authenticateWallet: AuthenticateWallet
  readonly signInByPasskey: SignInByPasskey
  readonly resetPin: ResetPin
  readonly submitPayment: SubmitPayment
  /** From then on, codes of this session pay small amounts again. */
  readonly confirmSession: (sessionId: string) => Promise<void>
  readonly payByRail: PayByRail
  /** Undefined if no email is sent. */
  readonly askReceipt: AskReceipt | undefined
  /** Only in the sandbox. */
  readonly chooseAtTestBank: ChooseAtTestBank
  /** Only in the sandbox. */
  readonly findTestWalletId: (behaviour: Behaviour) => Promise<string | undefined>
  readonly visits: Visits
}

export interface Act {
  readonly order: Order
  readonly visit: Visit
  /** The wallet that is signed in at /wallet in this browser. */
  readonly visitor: WalletVisitor | undefined
  /** Undefined if passkeys cannot be used here. */
  readonly site: PasskeySite | undefined
  readonly form: URLSearchParams
  readonly address: string
  readonly cookieHeader: string | undefined
  /** The browser's user agent, shortened. */
  readonly device: string
  readonly merchant: Pick<Merchant, 'name'>
  readonly language: Language
  /** Undefined if too many sign-ins are in progress; otherwise the function releases the slot. */
  readonly startSignIn: () => (() => void) | undefined
  /** Logs the address of a wrong PIN or code, so that it can be banned. */
  readonly noteWrong: () => void
  /** False beyond the limit. */
  readonly takeReceipt: () => boolean
}

export type Acts = ReturnType<typeof makeCheckoutActions>

const maxLoginShown = 254

export function makeCheckoutActions(parts: ActsParts) {
  return bindAll(parts, {
    signIn,
    resetPin,
    signOut,
    pay,
    payWithPin,
    payWithPasskey,
    payWithTestWallet,
    chooseRail,
    payWithTestBank,
    askReceipt,
    leaveRail,
  })
}

async function signIn(parts: ActsParts, act: Act): Promise<string[]> {
  const { authenticateWallet, visits } = parts
  const { order, form, address, cookieHeader, device, startSignIn } = act
  const login = (form.get('login') ?? '').slice(0, maxLoginShown)
  const end = startSignIn()
  if (!end) return note(parts, order, { code: 'busy', login })
  try {
    const outcome = await authenticateWallet({
      login,
      pin: form.get('pin') ?? '',
      address,
      device: visits.readDevice(cookieHeader, login),
      userAgent: device,
    })
    switch (outcome.kind) {
      case 'signed_in':
        return [visits.signIn(order, outcome.wallet), visits.rememberDevice(outcome.wallet)]
      default:
        act.noteWrong()
        return note(parts, order, { ...noteOnPin(outcome, 'wrong'), login })
    }
  } finally {
    end()
  }
}

async function resetPin(parts: ActsParts, act: Act): Promise<string[]> {
  const { visits, resetPin } = parts
  const { order, form, address, cookieHeader, startSignIn } = act
  const login = (form.get('login') ?? '').slice(0, maxLoginShown)
  const pin = form.get('pin') ?? ''
  if (!isNewPin(pin) || pin !== form.get('again')) return note(parts, order, { code: 'pinUnfit', login })
  const weakness = weaknessOfPin(pin)
  if (weakness) return note(parts, order, { code: weakPinNotes[weakness], login })
  const end = startSignIn()
  if (!end) return note(parts, order, { code: 'busy', login })
  try {
    const device = visits.readDevice(cookieHeader, login)
    const outcome = await resetPin({ login, code: form.get('code') ?? '', pin, address, device })
    if (outcome.kind !== 'changed') act.noteWrong()
    if (outcome.kind === 'wrong') return note(parts, order, { code: 'codeWrong', login })
    if (outcome.kind === 'locked') return note(parts, order, { ...noteOnPin(outcome, 'wrong'), login })
    const { wallet } = outcome
    return [
      visits.signIn(order, wallet),
      visits.rememberDevice(wallet),
      ...note(parts, order, { code: 'pinChanged' }),
    ]
  } finally {
    end()
  }
}

async function signOut({ visits }: ActsParts, { order }: Act): Promise<string[]> {
  return [visits.signOut(order)]
}

async function pay(parts: ActsParts, { order, visit }: Act): Promise<string[]> {
  if (!visit.session) return note(parts, order, { code: 'signedOut' })
  return submit(parts, order, visit.session)
}

/** The session at /wallet only identifies the login. Moving money requires the PIN or a passkey. */
async function payWithPin(parts: ActsParts, act: Act): Promise<string[]> {
  const { order, visitor, form, address, cookieHeader, device } = act
  return asVisitor(parts, act, async ({ login }) => {
    const known = parts.visits.readDevice(cookieHeader, login)
    const given = { login, pin: form.get('pin') ?? '', address, device: known, userAgent: device }
    const outcome = await parts.authenticateWallet(given)
    if (outcome.kind === 'signed_in' && outcome.wallet.walletId === visitor?.walletId)
      return [
        parts.visits.rememberDevice(outcome.wallet),
        ...(await submitConfirmed(parts, act, outcome.wallet)),
      ]
    act.noteWrong()
    return note(
      parts,
      order,
      outcome.kind === 'signed_in' ? { code: 'signedOut' } : noteOnPin(outcome, 'pinWrong'),
    )
  })
}

async function payWithPasskey(parts: ActsParts, act: Act): Promise<string[]> {
  const { order, visitor, site, form } = act
  return asVisitor(parts, act, async () => {
    const given = { credential: form.get('credential') ?? '', boundTo: form.get('token') ?? '' }
    const wallet = site && (await parts.signInByPasskey(given, site))
    return wallet && wallet.walletId === visitor?.walletId
      ? submitConfirmed(parts, act, wallet)
      : note(parts, order, { code: 'passkeyWrong' })
  })
}

async function submitConfirmed(
  parts: ActsParts,
  { order, visitor }: Act,
  payer: PayingWallet,
): Promise<string[]> {
  if (visitor) await parts.confirmSession(visitor.sessionId)
  return submit(parts, order, payer)
}

/** Only for the session that the page showed, because another may have started in a second tab. */
async function asVisitor(
  parts: ActsParts,
  { order, visitor, form, startSignIn }: Act,
  pay: (visitor: WalletVisitor) => Promise<string[]>,
): Promise<string[]> {
  if (!visitor || form.get('session') !== visitor.sessionId) return note(parts, order, { code: 'signedOut' })
  const end = startSignIn()
  if (!end) return note(parts, order, { code: 'busy' })
  try {
    return await pay(visitor)
  } finally {
    end()
  }
}

async function payWithTestWallet(parts: ActsParts, { order, form }: Act): Promise<string[]> {
  const behaviour = form.get('wallet') ?? ''
  const walletId = isBehaviour(behaviour) ? await parts.findTestWalletId(behaviour) : undefined
  return walletId === undefined ? note(parts, order, { code: 'again' }) : submit(parts, order, { walletId })
}

async function chooseRail(parts: ActsParts, { order, form, language }: Act): Promise<string[]> {
  const wish = { railId: form.get('rail') ?? '', locale: language.tag }
  const outcome = await parts.payByRail.start({ ...order, ...wish })
  return outcome.kind === 'started' && outcome.attempt.status === 'pending'
    ? note(parts, order, { code: 'goOn' })
    : noteOn(parts, order, outcome)
}

async function payWithTestBank(parts: ActsParts, { order, form, language }: Act): Promise<string[]> {
  const choice = bankChoices.find((each) => each === form.get('choice'))
  if (choice === undefined) return note(parts, order, { code: 'again' })
  return noteOn(parts, order, await parts.chooseAtTestBank(order, choice, language.tag))
}

async function askReceipt(
  parts: ActsParts,
  { order, merchant, language, form, takeReceipt }: Act,
): Promise<string[]> {
  const login = (form.get('email') ?? '').slice(0, maxLoginShown)
  const email = normaliseEmail(login)
  const { completedAtMs } = order
  if (!parts.askReceipt || order.status !== 'success' || completedAtMs === undefined) return []
  if (email === undefined) return note(parts, order, { code: 'receiptWrong', login })
  if (!takeReceipt()) return note(parts, order, { code: 'receiptBusy', login })
  const { tag, formats } = language
  await parts.askReceipt(order, {
    email,
    language: tag,
    merchant: merchant.name,
    amount: formats.moneyText(order.paymentAmountMinor, order.currency),
    time: formats.time(completedAtMs),
  })
  return note(parts, order, { code: 'receiptSent' })
}

async function leaveRail({ payByRail }: ActsParts, { order }: Act): Promise<string[]> {
  await payByRail.leave(order)
  return []
}

/** Why a rail payment was not started. */
function noteOn(parts: ActsParts, order: Order, outcome: RailPaymentOutcome): string[] {
  switch (outcome.kind) {
    case 'started':
      return []
    case 'attempt_open':
      return note(parts, order, { code: 'railBusy' })
    case 'rail_not_offered':
      return note(parts, order, { code: 'railGone' })
    case 'order_not_payable':
      return note(parts, order, { code: whyNot(outcome.status) })
  }
}

async function submit(parts: ActsParts, order: Order, payer: PayingWallet): Promise<string[]> {
  const { submitPayment, visits, payByRail } = parts
  const { walletId, accessVersion } = payer
  const outcome = await submitPayment({ ...order, walletId, accessVersion })
  switch (outcome.kind) {
    // The session is no longer needed.
    case 'submitted':
      return [visits.signOut(order)]
    case 'insufficient_funds':
      return note(parts, order, { code: 'tooLittle' })
    case 'over_limit':
      return note(parts, order, { code: 'overLimit' })
    case 'wallet_locked':
      return [visits.signOut(order), ...note(parts, order, { code: 'locked' })]
    case 'access_ended':
      return [visits.signOut(order), ...note(parts, order, { code: 'signedOut' })]
    case 'attempt_open': {
      const left = await payByRail.leave(order)
      return left && left.endedAtMs === undefined
        ? note(parts, order, { code: 'railBusy' })
        : submit(parts, order, payer)
    }
    case 'order_not_payable':
      return [visits.signOut(order), ...note(parts, order, { code: whyNot(outcome.status) })]
  }
}

function noteOnPin(outcome: Exclude<SignIn, { kind: 'signed_in' }>, wrong: 'wrong' | 'pinWrong'): Note {
  const untilMs = outcome.kind === 'locked' ? outcome.untilMs : outcome.lockedUntilMs
  if (untilMs !== undefined) return { code: 'lockedUntil', untilMs }
  return outcome.kind === 'locked' ? { code: 'locked' } : { code: wrong, triesLeft: outcome.triesLeft }
}

const weakPinNotes = { repeated: 'pinRepeated', run: 'pinRun', date: 'pinDate' } as const

function note({ visits }: ActsParts, order: Order, text: Note): string[] {
  return [visits.leaveNote(order, text)]
}

function whyNot(status: OrderStatus): Note['code'] {
  if (status === 'success') return 'alreadyPaid'
  return status === 'confirming' ? 'alreadyProcessing' : 'gone'
}

function isBehaviour(text: string): text is Behaviour {
  return Object.hasOwn(behaviours, text)
}
