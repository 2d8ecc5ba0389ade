// What a consumer does on the page. Each act ends with cookies: a session, or a note that the next page shows. The
// order's own status guards the paying: two clicks, two tabs or two people never pay twice.
import type { OrderStatus } from '@tillgate/protocol'
import type { Merchant } from '../../merchants/rules/merchant.ts'
import type { AskReceipt } from '../../notices/ask-receipt.ts'
import { normaliseEmail } from '../../notices/rules/notice.ts'
import type { Order } from '../../orders/rules/order.ts'
import type { PayingWallet, SubmitPayment } from '../../payments/submit-payment.ts'
import type { PayByRail, RailPaymentOutcome } from '../../rails/pay-by-rail.ts'
import { bankChoices, type makeChooseAtTestBank } from '../../sandbox/test-bank.ts'
import type { AuthenticateWallet } from '../../wallets/authenticate-wallet.ts'
import type { ResetPin } from '../../wallets/reset-pin.ts'
import { type Behaviour, behaviours, isNewPin } from '../../wallets/rules/wallet.ts'
import type { Language } from './languages.ts'
import type { Note, Visit, Visits } from './visit.ts'

type ChooseAtTestBank = ReturnType<typeof makeChooseAtTestBank>

export interface ActsParts {
  readonly authenticateWallet: AuthenticateWallet
  readonly resetPin: ResetPin
  readonly submitPayment: SubmitPayment
  readonly payByRail: PayByRail
  /** Undefined: no mail is sent. */
  readonly askReceipt: AskReceipt | undefined
  /** In the sandbox alone. */
  readonly chooseAtTestBank: ChooseAtTestBank
  /** In the sandbox alone. */
  readonly findTestWalletId: (behaviour: Behaviour) => Promise<string | undefined>
  readonly visits: Visits
}

export interface Act {
  readonly order: Order
  readonly visit: Visit
  readonly form: URLSearchParams
  readonly address: string
  readonly cookieHeader: string | undefined
  /** What the browser calls itself, shortened. */
  readonly device: string
  readonly merchant: Pick<Merchant, 'name'>
  /** The consumer's. */
  readonly language: Language
  /** Undefined: too many at once. Otherwise to be called when the sign-in is over. */
  readonly startSignIn: () => (() => void) | undefined
  /** False: too many. */
  readonly takeReceipt: () => boolean
}

export type Acts = ReturnType<typeof makeActs>

const maxLoginShown = 254

export function makeActs(parts: ActsParts) {
  const {
    authenticateWallet,
    resetPin,
    submitPayment,
    payByRail,
    chooseAtTestBank,
    findTestWalletId,
    visits,
  } = parts
  return {
    async signIn({ order, form, address, cookieHeader, device, startSignIn }: Act): Promise<string[]> {
      const login = (form.get('login') ?? '').slice(0, maxLoginShown)
      const end = startSignIn()
      if (!end) return note(order, { code: 'busy', login })
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
          case 'wrong':
            return note(
              order,
              outcome.lockedUntilMs === undefined
                ? { code: 'wrong', login, triesLeft: outcome.triesLeft }
                : { code: 'lockedUntil', login, untilMs: outcome.lockedUntilMs },
            )
          case 'locked':
            return lockedNote(order, login, outcome.untilMs)
        }
      } finally {
        end()
      }
    },

    async resetPin({ order, form, address, cookieHeader, startSignIn }: Act): Promise<string[]> {
      const login = (form.get('login') ?? '').slice(0, maxLoginShown)
      const pin = form.get('pin') ?? ''
      if (!isNewPin(pin) || pin !== form.get('again')) return note(order, { code: 'pinUnfit', login })
      const end = startSignIn()
      if (!end) return note(order, { code: 'busy', login })
      try {
        const device = visits.readDevice(cookieHeader, login)
        const outcome = await resetPin({ login, code: form.get('code') ?? '', pin, address, device })
        if (outcome.kind === 'wrong') return note(order, { code: 'codeWrong', login })
        if (outcome.kind === 'locked') return lockedNote(order, login, outcome.untilMs)
        const { wallet } = outcome
        return [
          visits.signIn(order, wallet),
          visits.rememberDevice(wallet),
          ...note(order, { code: 'pinChanged' }),
        ]
      } finally {
        end()
      }
    },

    async signOut({ order }: Act): Promise<string[]> {
      return [visits.signOut(order)]
    },

    async pay({ order, visit }: Act): Promise<string[]> {
      if (!visit.session) return note(order, { code: 'signedOut' })
      return pay(order, visit.session)
    },

    async payWithTestWallet({ order, form }: Act): Promise<string[]> {
      const behaviour = form.get('wallet') ?? ''
      const walletId = isBehaviour(behaviour) ? await findTestWalletId(behaviour) : undefined
      return walletId === undefined ? note(order, { code: 'again' }) : pay(order, { walletId })
    },

    async chooseRail({ order, form, language }: Act): Promise<string[]> {
      const wish = { railId: form.get('rail') ?? '', locale: language.tag }
      const outcome = await payByRail.start({ ...order, ...wish })
      return outcome.kind === 'started' && outcome.attempt.status === 'pending'
        ? note(order, { code: 'goOn' })
        : noteOn(order, outcome)
    },

    async payWithTestBank({ order, form, language }: Act): Promise<string[]> {
      const choice = bankChoices.find((each) => each === form.get('choice'))
      if (choice === undefined) return note(order, { code: 'again' })
      return noteOn(order, await chooseAtTestBank(order, choice, language.tag))
    },

    async askReceipt({ order, merchant, language, form, takeReceipt }: Act): Promise<string[]> {
      const login = (form.get('email') ?? '').slice(0, maxLoginShown)
      const email = normaliseEmail(login)
      const { completedAtMs } = order
      if (!parts.askReceipt || order.status !== 'success' || completedAtMs === undefined) return []
      if (email === undefined) return note(order, { code: 'receiptWrong', login })
      if (!takeReceipt()) return note(order, { code: 'receiptBusy', login })
      const { tag, formats } = language
      await parts.askReceipt(order, {
        email,
        language: tag,
        merchant: merchant.name,
        amount: formats.moneyText(order.paymentAmountMinor, order.currency),
        time: formats.time(completedAtMs),
      })
      return note(order, { code: 'receiptSent' })
    },

    async leaveRail({ order }: Act): Promise<string[]> {
      await payByRail.leave(order)
      return []
    },
  }

  /** Why a rail was not begun, where it was not. */
  function noteOn(order: Order, outcome: RailPaymentOutcome): string[] {
    switch (outcome.kind) {
      case 'started':
        return []
      case 'attempt_open':
        return note(order, { code: 'railBusy' })
      case 'rail_not_offered':
        return note(order, { code: 'railGone' })
      case 'order_not_payable':
        return note(order, { code: whyNot(outcome.status) })
    }
  }

  async function pay(order: Order, payer: PayingWallet): Promise<string[]> {
    const { walletId, accessVersion } = payer
    const outcome = await submitPayment({ ...order, walletId, accessVersion })
    switch (outcome.kind) {
      // The session has done its work.
      case 'submitted':
        return [visits.signOut(order)]
      case 'insufficient_funds':
        return note(order, { code: 'tooLittle' })
      case 'over_limit':
        return note(order, { code: 'overLimit' })
      case 'wallet_locked':
        return [visits.signOut(order), ...note(order, { code: 'locked' })]
      case 'access_ended':
        return [visits.signOut(order), ...note(order, { code: 'signedOut' })]
      case 'attempt_open': {
        const left = await payByRail.leave(order)
        return left && left.endedAtMs === undefined ? note(order, { code: 'railBusy' }) : pay(order, payer)
      }
      case 'order_not_payable':
        return [visits.signOut(order), ...note(order, { code: whyNot(outcome.status) })]
    }
  }

  function lockedNote(order: Order, login: string, untilMs: number | undefined): string[] {
    return note(
      order,
      untilMs === undefined ? { code: 'locked', login } : { code: 'lockedUntil', login, untilMs },
    )
  }

  function note(order: Order, text: Note): string[] {
    return [visits.leaveNote(order, text)]
  }
}

function whyNot(status: OrderStatus): Note['code'] {
  if (status === 'success') return 'alreadyPaid'
  return status === 'confirming' ? 'alreadyProcessing' : 'gone'
}

function isBehaviour(text: string): text is Behaviour {
  return Object.hasOwn(behaviours, text)
}
