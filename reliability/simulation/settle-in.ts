// What is there when a run begins: merchants with their listeners, some of which share a host, and wallets with money.

import { type EventName, makeUuid } from '@tillgate/protocol'
import { noExtras } from '../../packages/gateway/src/actions/rails/rail-actions.ts'
import { readConfig } from '../../packages/gateway/src/app/settings/config.ts'
import type { AuditEntry } from '../../packages/gateway/src/core/audit/rules/audit.ts'
import type { AuditedAction } from '../../packages/gateway/src/core/authority/rules/effects.ts'
import {
  type Merchant,
  makeMerchantId,
  newMerchant,
} from '../../packages/gateway/src/core/merchants/rules/merchant.ts'
import type { ManagePrices } from '../../packages/gateway/src/finance/treasury/manage-prices.ts'
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { type Acting, actingAs } from '../../packages/gateway/test/support/acting.ts'
import { testOperations } from '../../packages/gateway/test/support/operations.ts'
import { testBankDetails } from '../../packages/gateway/test/support/payouts.ts'
import { testEnvironment } from '../../packages/gateway/test/support/started.ts'
import { pair } from '../../packages/protocol/test/keys.ts'
import { bankRailId, type SimulatedBank } from './bank.ts'
import type { InstalledKeys } from './keys/installed-keys.ts'
import { manners, type SimulatedNetwork } from './network.ts'
import type { World } from './people.ts'
import type { Seeded } from './seeded.ts'
import { vault } from './simulated-gateway.ts'
import { ownBank } from './treasury/own-money.ts'
import { planOf } from './treasury/payouts.ts'

/** Enough for several orders, not for all: some payments find too little. */
export const walletMinor = 12_000n
const merchantCount = 4
const walletCount = 5

export interface Beginning {
  readonly seeded: Seeded
  readonly network: SimulatedNetwork
  readonly bank: SimulatedBank
  readonly keys: InstalledKeys
  readonly nowMs: number
}

/** Of the first two shops: one whose fees refunds give back, one that keeps them. The others pay nothing. */
const terms = [
  { fixedMinor: 30n, basisPoints: 177, leastMinor: undefined, mostMinor: 900n, returnsFee: true },
  { fixedMinor: 0n, basisPoints: 290, leastMinor: 35n, mostMinor: undefined, returnsFee: false },
] as const

export async function settleIn(
  pool: Pool,
  { seeded, network, bank, keys, nowMs }: Beginning,
): Promise<Pick<World, 'merchants' | 'wallets'>> {
  const random = (count: number) => seeded.bytes(count)
  const clock = { now: () => nowMs, wait: async () => {} }
  const { stores, operations } = testOperations(pool, {
    config: { ...readConfig(testEnvironment), bankAccountWaitMs: 0 },
    clock,
    random,
    vault,
  })
  const { bankAccounts, payoutPlans, endpoints } = actingAs(operations, 'simulation')
  // Bank accounts outlive a run, because a migration brought the first one. The first run on a database draws no more
  // from `seeded` than the others.
  const chance = seeded.stream('own bank')
  const own = testOperations(pool, { clock, random: (count) => chance.bytes(count), vault })
  const { banks } = actingAs(own.operations, 'simulation')
  const known = (await banks.listBanks()).some(({ bank: { bankName } }) => bankName === ownBank)
  const ownDetails = { holder: 'Operator', iban: undefined, lines: ['Account 1'], bic: undefined }
  if (!known) await banks.addBank({ ...ownDetails, bankName: ownBank, currency: 'USD' }, 'the beginning')
  await stores.events.setKept(true)
  const merchants: { merchant: Merchant; callbackUrl: string }[] = []
  for (let index = 0; index < merchantCount; index++) {
    const merchant = newMerchant({
      merchantId: makeMerchantId(random),
      name: `Shop ${index}`,
      createdAtMs: nowMs,
    })
    await stores.merchants.insertMerchant(merchant, [], entry('merchant.add'))
    await giveKeys(merchant)
    const account = { currency: 'USD', ...testBankDetails }
    await bankAccounts.setBankAccount(merchant.merchantId, account, { reason: 'the beginning' })
    // Half of them are paid out every day.
    await payoutPlans.setPlan(
      planOf(merchant.merchantId, index % 2 === 0 ? 'daily' : 'hand'),
      'the beginning',
    )
    // The last two shops are at one host.
    const host = `shop-${Math.min(index, merchantCount - 2)}.example`
    if (index < merchantCount - 1) network.addHost(host, seeded.weighted(manners))
    merchants.push({ merchant, callbackUrl: `https://${host}/${merchant.merchantId}` })
    // Every other shop has endpoints: one at a host of its own that hears of all, one beside the orders' own address.
    if (index % 2 === 0) {
      const eventsHost = `events-${index}.example`
      network.addHost(eventsHost, seeded.weighted(manners))
      await addEndpoint(merchant, eventsHost)
      await addEndpoint(merchant, host, ['payment.order.success', 'payment.refund.success'])
    }
  }
  async function giveKeys({ merchantId }: Merchant): Promise<void> {
    const chance = seeded.stream(`keys of ${merchantId}`)
    const { merchants: manage } = actingAs(
      testOperations(pool, {
        clock,
        random: (count) => chance.bytes(count),
        vault,
      }).operations,
      'simulation',
    )
    const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
    await manage.addKey(merchantId, { kind: 'rsa', publicKey })
    const { keyId } = await manage.addKey(merchantId, { kind: 'aes' })
    keys.install(merchantId, { sends: keyId, opens: [keyId] })
  }
  async function addEndpoint(
    { merchantId }: Merchant,
    host: string,
    events?: readonly EventName[],
  ): Promise<void> {
    const url = `https://${host}/endpoint/${merchantId}`
    await endpoints.addEndpoint(merchantId, { url, format: 'envelope', events }, 'the beginning')
  }
  const wallets: string[] = []
  for (let index = 0; index < walletCount; index++) {
    const walletId = makeUuid(nowMs, random)
    const login = `consumer-${index}@wallet.example`
    const wallet = {
      walletId,
      login,
      name: 'Consumer',
      sealedPin: Buffer.of(1),
      behaviour: undefined,
      createdAtMs: nowMs,
    }
    await stores.wallets.insertWallet(wallet, entry('wallet.add'))
    wallets.push(walletId)
  }
  await actingAs(operations, 'simulation').funds.topUp(
    wallets.map((walletId) => ({ walletId, currency: 'USD', amountMinor: walletMinor })),
    { subject: 'simulation', reason: 'the beginning' },
  )
  const bankRail = {
    ...noExtras,
    name: 'Bank',
    url: 'https://bank.example/rail',
    currencies: ['USD'],
    authorizationDays: 7,
  }
  const { secret } = await actingAs(operations, 'simulation').rails.addRail(
    bankRailId,
    bankRail,
    'the beginning',
  )
  bank.register(secret)
  await setPrices(actingAs(operations, 'simulation').prices, merchants)
  return { merchants, wallets }

  function entry(name: AuditedAction): AuditEntry {
    return {
      auditId: makeUuid(nowMs, random),
      actedAtMs: nowMs,
      actor: 'simulation',
      action: name,
      merchantId: undefined,
      subject: 'simulation',
      reason: undefined,
    }
  }
}

async function setPrices(
  prices: Acting<ManagePrices>,
  merchants: readonly { readonly merchant: Merchant }[],
): Promise<void> {
  for (const [index, each] of terms.entries()) {
    const merchantId = merchants[index]?.merchant.merchantId
    const scope = { merchantId, railId: undefined, currency: 'USD' }
    await prices.setPrice({ ...scope, terms: each, fromMs: undefined }, 'the beginning')
  }
}
