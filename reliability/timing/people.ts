// Who is there to be asked about: members, wallets, links that are over, and a rail; some locked, some with a code. What
// would end during a run is made to last, because the run's clock goes ahead by days with every request.

import { noExtras } from '../../packages/gateway/src/actions/rails/rail-actions.ts'
import { actingAs } from '../../packages/gateway/test/support/acting.ts'
import type { TestClock } from '../../packages/gateway/test/support/clock.ts'
import type { TestGateway, TestMerchant } from '../../packages/gateway/test/support/gateway.ts'
import { testOperations } from '../../packages/gateway/test/support/operations.ts'
import { PortalClient } from '../../packages/gateway/test/support/portal.ts'
import { testVault } from '../../packages/gateway/test/support/started.ts'
import { testPin, WalletClient } from '../../packages/gateway/test/support/wallet.ts'

export interface People {
  readonly merchant: TestMerchant
  /** Paths of one-time links. */
  readonly links: Readonly<Record<'used' | 'expired' | 'recovery', readonly string[]>>
  readonly railId: string
}

const loginsOfKind = 5
const neverMs = 9_000_000_000_000_000

export function loginsOf(kind: string): string[] {
  return Array.from({ length: loginsOfKind }, (_, at) => `${kind}-${at}@home.example`)
}

export async function makePeople(gateway: TestGateway, clock: TestClock): Promise<People> {
  const { pool } = gateway
  // Without mail, so that one-time links are handed out.
  const { operations } = testOperations(pool, { vault: testVault, clock, publicUrl: gateway.url })
  const { members, rails, wallets } = actingAs(operations, 'timing')
  const merchant = await gateway.addMerchant()
  const { merchantId } = merchant
  const links = { used: await addMembers(), expired: await invitations('late'), recovery: await recoveries() }
  await pool.query('update member_links set expires_at = created_at + 1 where used_at is null')
  await addWallets()
  await lock()
  const railId = await addRail()
  return { merchant, links, railId }

  async function addMembers(): Promise<string[]> {
    const paths = [...(await invitations('member')), ...(await invitations('locked-member'))]
    for (const path of paths) {
      clock.advance(60_000)
      await new PortalClient(gateway).join(gateway.url + path)
    }
    return paths
  }

  async function invitations(kind: string): Promise<string[]> {
    const paths: string[] = []
    for (const email of loginsOf(kind)) {
      const { link } = await members.inviteMember({ merchantId, email, role: 'viewer' })
      paths.push(new URL(link ?? '').pathname)
    }
    return paths
  }

  async function recoveries(): Promise<string[]> {
    const paths: string[] = []
    for (const login of loginsOf('member')) {
      const { link } = await members.recoverAccount({ merchantId, login }, 'timing')
      paths.push(new URL(link ?? '').pathname)
    }
    return paths
  }

  async function addWallets(): Promise<void> {
    for (const kind of ['wallet', 'locked-wallet', 'shut-wallet', 'typed-wallet', 'coded-wallet'])
      for (const login of loginsOf(kind)) {
        const { wallet } = await wallets.addWallet({ login, name: 'Timing', pin: testPin, reason: 'timing' })
        if (kind === 'shut-wallet') await wallets.lockWallet(wallet.walletId, 'timing')
        if (kind === 'coded-wallet') await wallets.resetPin(wallet.walletId, 'timing')
      }
    await pool.query(`update wallets set confirmed_at = 1 where login not like 'typed%'`)
    // A code has five tries; these must do for the whole run.
    await pool.query('alter table pin_resets drop constraint pin_resets_tries_check')
    await pool.query(`update pin_resets set tries = -30000, expires_at = ${neverMs}`)
  }

  /** Somebody's tries stand in their own row, nobody's among those of unknown logins. */
  async function lock(): Promise<void> {
    for (const login of [...loginsOf('locked-nobody'), ...loginsOf('locked-nobody-else')]) {
      clock.advance(60_000)
      await new PortalClient(gateway).signIn(login)
      await new WalletClient(gateway).signIn(login)
    }
    await pool.query(`update member_tries set locked_until = ${neverMs}`)
    await pool.query(`update wallet_tries set locked_until = ${neverMs} where tried_from = 'all addresses'`)
    for (const table of ['member_accounts', 'wallets'])
      await pool.query(`update ${table} set locked_until = ${neverMs} where login like 'locked%'`)
  }

  async function addRail(): Promise<string> {
    const { rail } = await rails.addRail(
      'timing-bank',
      { ...noExtras, name: 'My bank', url: 'https://bank.example', currencies: ['USD'], position: 100 },
      'timing',
    )
    return rail.railId
  }
}
