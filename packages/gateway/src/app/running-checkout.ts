// What the checkout's pages need from operations and stores.
import { makeCheckoutActions } from '../adapters/checkout/acts.ts'
import { LiveOrders } from '../adapters/checkout/live.ts'
import type { ShownRails } from '../adapters/checkout/pages/view.ts'
import type { RunningCheckout } from '../adapters/checkout/routes.ts'
import { makeVisits } from '../adapters/checkout/visit.ts'
import type { CookieJar } from '../adapters/kit/cookies.ts'
import { logoPath } from '../adapters/merchant-api/rails.ts'
import { isOverdue } from '../core/orders/rules/expiry.ts'
import type { Checkout } from '../core/orders/show-checkout.ts'
import { brokenLimit, type DefaultLimits, dayOf, limitsIn } from '../core/wallets/rules/limits.ts'
import type { Behaviour } from '../core/wallets/rules/wallet.ts'
import type { Attempt } from '../finance/rails/rules/attempt.ts'
import { isOffered, nameIn } from '../finance/rails/rules/outside-rail.ts'
import type { ClockAndRandom } from '../platform/runtime/clock.ts'
import type { Log } from '../platform/runtime/log.ts'
import { makeSealing } from '../platform/runtime/secrets/sealing.ts'
import { makeTokens } from '../platform/runtime/secrets/tokens.ts'
import type { Vault } from '../platform/runtime/secrets/vault.ts'
import { findTestWallet } from '../sandbox/test-wallets.ts'
import type { Stores } from './database/stores.ts'
import type { Operations } from './operations.ts'

export interface RunningCheckoutParts extends ClockAndRandom {
  readonly stores: Stores
  readonly operations: Operations
  readonly vault: Vault
  readonly jar: CookieJar
  readonly log: Log
  readonly defaultLimits: DefaultLimits
}

export function startCheckout(parts: RunningCheckoutParts): RunningCheckout & { stop(): Promise<void> } {
  const { operations, vault, clock, random, log } = parts
  const { orders, wallets } = parts.stores
  const visits = makeVisits({
    jar: parts.jar,
    sealing: makeSealing(vault.deriveKeys('checkout sessions'), random),
    tokens: makeTokens(vault.deriveKeys('checkout forms')),
    random,
    clock,
  })
  const live = new LiveOrders({
    async findStatus(key) {
      const found = await orders.findStatus(key)
      const nowMs = clock.now()
      if (!found) return undefined
      if (!isOverdue(found, nowMs)) return { ...found, status: found.isHeld ? 'authorized' : found.status }
      const order = await orders.findOrder(key)
      return order && operations.currentOrder(order, nowMs)
    },
    clock,
    onTrouble: (err) =>
      log.warn({ worker: 'live-orders', err }, 'the order’s status could not be read; retrying'),
  })
  return {
    showCheckout: operations.showCheckout,
    returnToShop: operations.returnToShop,
    acts: makeCheckoutActions({
      authenticateWallet: operations.authenticateWallet,
      signInByPasskey: operations.signInByPasskey,
      resetPin: operations.resetPin,
      submitPayment: operations.submitPayment,
      confirmSession: operations.confirmSession,
      payByRail: operations.payByRail,
      askReceipt: operations.askReceipt,
      chooseAtTestBank: operations.chooseAtTestBank,
      findTestWalletId: async (behaviour: Behaviour) => (await findTestWallet(wallets, behaviour))?.walletId,
      visits,
    }),
    async findSignedIn({ walletId, accessVersion }, order) {
      const wallet = await wallets.findWallet(walletId)
      // The wallet was locked or its access ended since the sign-in, so the session counts as none.
      if (wallet?.status !== 'active' || wallet.accessVersion !== accessVersion) return undefined
      await operations.refillTestWallet?.(wallet, order)
      const { currency, paymentAmountMinor: amountMinor } = order
      const { availableMinor, spending } = await parts.stores.walletLimits.findPayer({ walletId, currency })
      const given = {
        amountMinor,
        day: dayOf(clock.now()),
        defaults: limitsIn(currency, parts.defaultLimits),
      }
      const overLimit = brokenLimit(spending, given)
      return { name: wallet.name, login: wallet.login, availableMinor, overLimit }
    },
    async findVisitor(token) {
      const session = await operations.walletSessions.find(token)
      const wallet = session && (await wallets.findWallet(session.walletId))
      return session && wallet?.status === 'active' ? { ...wallet, sessionId: session.sessionId } : undefined
    },
    passkeys: operations.walletPasskeys,
    walletLimitMinor: (currency) => parts.defaultLimits.payment?.get(currency),
    findRails: (checkout, language) => findRails(parts, checkout, language),
    async lookAtRail(order) {
      await operations.payByRail.look(order)
    },
    isReceiptOffered: operations.askReceipt !== undefined,
    visits,
    live,
    stop: () => live.stop(),
  }
}

/** Does not query the database for an order that is paid or being paid without a rail. */
async function findRails(
  { stores, operations, clock }: RunningCheckoutParts,
  { order, hasAttempts }: Pick<Checkout, 'order' | 'hasAttempts'>,
  language: string,
): Promise<ShownRails> {
  const all = await operations.railDirectory.all()
  if (order.status === 'confirming') {
    const rail = order.railId === undefined ? undefined : all.get(order.railId)?.rail
    return { offered: [], processing: rail ? nameIn(rail, language) : order.railId }
  }
  if (all.size === 0 || order.status === 'success') return { offered: [] }
  const attempts = hasAttempts ? await stores.attempts.listAttempts(order) : []
  if (order.status !== 'pending') return { offered: [], late: findLate(attempts, all, language) }
  const last = attempts.at(-1)
  const lastRail = last && all.get(last.railId)?.rail
  const name = lastRail ? nameIn(lastRail, language) : ''
  if (last && last.transactionId === order.openAttempt) {
    const { status, nextAction, cancelAskedAtMs } = last
    return { offered: [], open: { name, status, nextAction, isLeaving: cancelAskedAtMs !== undefined } }
  }
  const { merchantId, currency, paymentAmountMinor: amountMinor } = order
  const isCaptured = order.authorization !== undefined
  return {
    offered: [...all.values()]
      .filter(({ rail }) => isOffered(rail, { merchantId, currency, amountMinor, isCaptured }, clock.now()))
      .map(({ rail }) => ({
        railId: rail.railId,
        name: nameIn(rail, language),
        logo: rail.logo === undefined ? undefined : logoPath(rail.railId),
      })),
    ...(last?.status === 'declined' && { declined: { name, reason: last.reason } }),
  }
}

/** Ordered by progress: of several late payments, the one whose return has progressed least is shown. */
const lateStatuses = ['held', 'returning', 'asking', 'returned'] as const

function findLate(
  attempts: readonly Attempt[],
  all: Awaited<ReturnType<Operations['railDirectory']['all']>>,
  language: string,
): ShownRails['late'] {
  for (const status of lateStatuses) {
    const attempt = attempts.find((each) => lateStatusOf(each) === status)
    const rail = attempt && all.get(attempt.railId)?.rail
    if (attempt) return { name: rail ? nameIn(rail, language) : attempt.railId, status }
  }
  return undefined
}

function lateStatusOf({ status, endedAtMs }: Attempt): string {
  return endedAtMs === undefined ? 'asking' : status
}
