// The sandbox's test wallets: one for each behavior, with money in every currency. They are created at the first start
// and refilled at each start and whenever a payment needs more, because all users share them.
import { currencies, digitsOf, makeUuid } from '@tillgate/protocol'
import { makeAuditEntry } from '../core/audit/audit-entries.ts'
import { reachingAll } from '../core/authority/context.ts'
import { availableMinor } from '../core/ledger/rules/transfer.ts'
import type { SubmitPayment } from '../core/orders/payments/submit-payment.ts'
import type { Order } from '../core/orders/rules/order.ts'
import type { OrderStore } from '../core/orders/store/orders.ts'
import { type Behaviour, behaviours, placeOfPin, type Wallet } from '../core/wallets/rules/wallet.ts'
import type { WalletStore } from '../core/wallets/store/wallets.ts'
import { makeMoveFunds, type TopUp } from '../finance/treasury/move-funds.ts'
import type { TreasuryStore } from '../finance/treasury/store/treasury.ts'
import type { ClockAndRandom } from '../platform/runtime/clock.ts'
import { hashSecret } from '../platform/runtime/secrets/secret-hash.ts'
import type { Vault } from '../platform/runtime/secrets/vault.ts'

export interface TestWalletsParts extends ClockAndRandom {
  readonly wallets: WalletStore
  readonly treasury: TreasuryStore
  readonly vault: Vault
}

/** The PIN of every test wallet. */
export const testWalletPin = '123456'

const names: Record<Behaviour, string> = {
  approves: 'Ada Approves',
  declines: 'Dan Declines',
  too_little_money: 'Tom Too-Little',
  confirms_later: 'Lea Later',
  refund_fails: 'Rita Refund-Fails',
  stays_confirming: 'Sam Stays-Confirming',
}

const fullMajorUnits = 1_000_000_000n
const gateway = reachingAll('gateway')
const refillReason = 'sandbox test wallet filled up'

export async function ensureTestWallets(parts: TestWalletsParts): Promise<void> {
  const { wallets, vault, clock, random } = parts
  const there = new Set((await wallets.listTestWallets()).map(({ behaviour }) => behaviour))
  const missing = (Object.keys(behaviours) as Behaviour[]).filter((behaviour) => !there.has(behaviour))
  // One hash for all, because the PIN is public.
  const hash = missing.length > 0 ? await hashSecret(testWalletPin, parts) : Buffer.of()
  for (const behaviour of missing) {
    const nowMs = clock.now()
    const walletId = makeUuid(nowMs, random)
    const login = loginOf(behaviour)
    const sealedPin = vault.seal(hash, placeOfPin(walletId))
    // False if another process inserted it first.
    await wallets.insertWallet(
      { walletId, login, name: names[behaviour], sealedPin, behaviour, createdAtMs: nowMs },
      makeAuditEntry(parts, gateway, 'wallet.add', walletId, { reason: 'sandbox test wallet' }),
    )
  }
  await fill(parts)
}

/** Refills wallets that are less than half full; the one with insufficient funds stays empty. */
async function fill({ wallets, treasury, clock, random }: TestWalletsParts): Promise<void> {
  const funds = makeMoveFunds({ treasury, clock, random })
  for (const { walletId, behaviour } of await wallets.listTestWallets()) {
    if (!isRefilled(behaviour)) continue
    const accounts = await wallets.listBalances(walletId)
    const available = new Map(accounts.map((account) => [account.currency, availableMinor(account)]))
    const topUps: TopUp[] = Object.entries(currencies).flatMap(([currency, { digits }]) => {
      const fullMinor = fullMinorOf(digits)
      const hasMinor = available.get(currency) ?? 0n
      return hasMinor * 2n < fullMinor ? { walletId, currency, amountMinor: fullMinor - hasMinor } : []
    })
    if (topUps.length > 0) await funds.topUp(gateway, topUps, { subject: walletId, reason: refillReason })
  }
}

/** Whether the refilled wallet has enough for this order. */
export type RefillTestWallet = (
  wallet: Pick<Wallet, 'walletId' | 'behaviour'>,
  order: Pick<Order, 'currency' | 'paymentAmountMinor'>,
) => Promise<boolean>

export function makeRefillTestWallet({
  wallets,
  treasury,
  clock,
  random,
}: TestWalletsParts): RefillTestWallet {
  const funds = makeMoveFunds({ treasury, clock, random })
  return async ({ walletId, behaviour }, { currency, paymentAmountMinor }) => {
    if (!isRefilled(behaviour)) return false
    const hasMinor = await wallets.findAvailable(walletId, currency)
    const fullMinor = fullMinorOf(digitsOf(currency))
    const wantedMinor = paymentAmountMinor > fullMinor ? paymentAmountMinor : fullMinor
    if (hasMinor >= paymentAmountMinor) return true
    const topUp = { walletId, currency, amountMinor: wantedMinor - hasMinor }
    await funds.topUp(gateway, [topUp], { subject: walletId, reason: refillReason })
    return true
  }
}

/** Other payments may take the new money first. */
const maxRefills = 5

export function withRefills(
  submitPayment: SubmitPayment,
  parts: {
    readonly orders: Pick<OrderStore, 'findOrder'>
    readonly wallets: Pick<WalletStore, 'findWallet'>
    readonly refill: RefillTestWallet
  },
): SubmitPayment {
  return async (payment) => {
    for (let refills = 0; ; refills++) {
      const outcome = await submitPayment(payment)
      if (outcome.kind !== 'insufficient_funds' || refills === maxRefills) return outcome
      const [order, wallet] = await Promise.all([
        parts.orders.findOrder(payment),
        parts.wallets.findWallet(payment.walletId),
      ])
      if (!order || !wallet || !(await parts.refill(wallet, order))) return outcome
    }
  }
}

function isRefilled(behaviour: Behaviour | undefined): boolean {
  return behaviour !== undefined && behaviour !== 'too_little_money'
}

function fullMinorOf(digits: number): bigint {
  return fullMajorUnits * 10n ** BigInt(digits)
}

/** Undefined until the first start of the sandbox has finished. */
export async function findTestWallet(
  wallets: Pick<WalletStore, 'findWalletByLogin'>,
  behaviour: Behaviour,
): Promise<Wallet | undefined> {
  const wallet = await wallets.findWalletByLogin(loginOf(behaviour))
  return wallet?.behaviour === behaviour ? wallet : undefined
}

function loginOf(behaviour: Behaviour): string {
  return `${behaviour.replaceAll('_', '-')}@sandbox.test`
}
