// The sandbox's test wallets: one for each behaviour, with money in every currency. Made at the first start and filled
// up at every further one.
import { currencies, makeCallbackId as makeUuid, type RandomBytes } from '@tillgate/protocol'
import { availableMinor } from '../ledger/rules/ledger.ts'
import type { Clock } from '../platform/clock.ts'
import { hashPin } from '../platform/secret-hash.ts'
import { makeMoveFunds, type TopUp } from '../treasury/move-funds.ts'
import type { TreasuryStore } from '../treasury/store/treasury.ts'
import { type Behaviour, behaviours, type Wallet } from '../wallets/rules/wallet.ts'
import type { WalletStore } from '../wallets/store/wallets.ts'

export interface TestWalletsParts {
  readonly wallets: WalletStore
  readonly treasury: TreasuryStore
  readonly clock: Clock
  readonly random: RandomBytes
}

/** Of every test wallet, for whoever wants to see the sign-in. */
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
const actor = 'gateway'

export async function ensureTestWallets(parts: TestWalletsParts): Promise<void> {
  const { wallets, clock, random } = parts
  const there = new Set((await wallets.listTestWallets()).map(({ behaviour }) => behaviour))
  const missing = (Object.keys(behaviours) as Behaviour[]).filter((behaviour) => !there.has(behaviour))
  // One hash for all: the PIN is known to everybody.
  const pinHash = missing.length > 0 ? await hashPin(testWalletPin, random) : ''
  for (const behaviour of missing) {
    const nowMs = clock.now()
    const walletId = makeUuid(nowMs, random)
    const login = loginOf(behaviour)
    const act = {
      auditId: makeUuid(nowMs, random),
      actedAtMs: nowMs,
      actor,
      act: 'wallet.add',
      merchantId: undefined,
      subject: walletId,
      reason: 'sandbox test wallet',
    }
    // False where another process was quicker.
    await wallets.insertWallet(
      { walletId, login, name: names[behaviour], pinHash, behaviour, createdAtMs: nowMs },
      act,
    )
  }
  await fill(parts)
}

/** Whatever is less than half full; the one with too little money stays empty. */
async function fill({ wallets, treasury, clock, random }: TestWalletsParts): Promise<void> {
  const funds = makeMoveFunds({ treasury, clock, random, actor })
  for (const { walletId, behaviour } of await wallets.listTestWallets()) {
    if (behaviour === 'too_little_money') continue
    const accounts = await wallets.listBalances(walletId)
    const available = new Map(accounts.map((account) => [account.currency, availableMinor(account)]))
    const topUps: TopUp[] = Object.entries(currencies).flatMap(([currency, { digits }]) => {
      const fullMinor = fullMajorUnits * 10n ** BigInt(digits)
      const hasMinor = available.get(currency) ?? 0n
      return hasMinor * 2n < fullMinor ? { walletId, currency, amountMinor: fullMinor - hasMinor } : []
    })
    if (topUps.length > 0)
      await funds.topUp(topUps, { subject: walletId, reason: 'sandbox test wallet filled up' })
  }
}

/** Undefined until the first start of the sandbox is over. */
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
