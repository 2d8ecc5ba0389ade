// Closes a wallet: personal data is erased in the transaction that finds the wallet empty, and the books keep an
// anonymous number. The orders that it paid are erased before, in batches, because there may be many; erasing twice is
// safe.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { insertAuditEntry } from '../../../core/audit/store/audit.ts'
import { type Publish, unpublished } from '../../../core/changes/rules/change.ts'
import { commitAndPublish } from '../../../core/changes/store/commit.ts'
import { consumerKinds } from '../../../core/emails/rules/kinds.ts'
import { accountIdOf, type Balances, noBalances } from '../../../core/ledger/rules/transfer.ts'
import { listAccounts, lockAccounts } from '../../../core/ledger/store/ledger.ts'
import type { Order } from '../../../core/orders/rules/order.ts'
import type { StatusChange } from '../../../core/orders/rules/status-change.ts'
import { ownMerchantId } from '../../../core/orders/rules/top-up.ts'
import { type Erased, type ErasureBatch, writeErased } from '../../../core/orders/store/erasure.ts'
import { type OrderRow, orderColumns, toOrder } from '../../../core/orders/store/order-row.ts'
import { changeStatuses } from '../../../core/orders/store/orders.ts'
import { loginOfClosed, type Wallet } from '../../../core/wallets/rules/wallet.ts'
import { forgetSources } from '../../../core/wallets/store/pin-try-sources.ts'
import { endAccess } from '../../../core/wallets/store/wallet-access.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { plainSql, sql } from '../../../platform/database/sql.ts'
import { removePasskeys } from '../../accounts/store/passkeys.ts'
import { walletTables } from './wallet-sessions.ts'

/**
 * `not_empty`: the wallet holds money. `under_way`: a transaction is pending. `access_ended`: since the owner
 * confirmed.
 */
export type Closing = 'closed' | 'not_empty' | 'under_way' | 'access_ended'

/** The wallet and the access that closes it. */
export type ClosingWallet = Pick<Wallet, 'walletId' | 'accessVersion'>

export type ClosingStore = ReturnType<typeof makeClosingStore>

export interface ClosedWallet extends ClosingWallet {
  /** The total that the wallet had paid when its orders were erased. */
  readonly paidMinor: bigint
  /** A hash of a random secret. */
  readonly sealedPin: Buffer
  /** Replaces the name. */
  readonly name: string
  /** Ends a top-up that was never paid. */
  readonly endTopUp: (order: Order) => StatusChange | undefined
}

export interface ClosedNow {
  /** `paid`: the wallet paid an order since its orders were erased. */
  readonly closing: Closing | 'paid'
  /** The top-ups that ended with it. */
  readonly ended: readonly StatusChange[]
}

export function makeClosingStore(database: Pool, publish: Publish = unpublished) {
  return {
    /** Checks without changing anything. */
    check: (wallet: ClosingWallet): Promise<Omit<Checked, 'topUps'>> =>
      database.transaction((transaction) => check(transaction, wallet)),
    /** Returns the number of orders in the batch, which starts after `after`. */
    eraseOrders: (batch: OrderBatch) =>
      database.transaction((transaction) => eraseOrders(transaction, batch)),
    close: (closed: ClosedWallet, entry: AuditEntry): Promise<ClosedNow> =>
      commitAndPublish<ClosedNow>(database, publish, async (transaction) => {
        const { closing, topUps, paidMinor } = await check(transaction, closed)
        const isPaying = closing === 'empty' && paidMinor !== closed.paidMinor
        if (closing !== 'empty' || isPaying)
          return { result: { closing: closing === 'empty' ? 'paid' : closing, ended: [] }, changes: [] }
        const endings = topUps.flatMap((order) => closed.endTopUp(order) ?? [])
        const { won: ended, changes } = await changeStatuses(transaction, endings)
        await erase(transaction, closed, entry.actedAtMs)
        await insertAuditEntry(transaction, entry)
        return { result: { closing: 'closed', ended }, changes }
      }),
  }
}

interface Checked {
  /** `empty`: it may be closed. `closed`: it is already. */
  readonly closing: Closing | 'empty'
  /** The total that ever left the wallet. An unchanged total means that it paid nothing since. */
  readonly paidMinor: bigint
  /** Open top-ups. If the wallet may be closed, none of them is being paid. */
  readonly topUps: readonly Order[]
}

/** Locks the wallet, its top-ups and its accounts in the order in which ending a top-up locks them. */
async function check(transaction: Queryable, { walletId, accessVersion }: ClosingWallet): Promise<Checked> {
  const { rows: wallets } = await transaction.query<{ status: Wallet['status']; access_version: number }>(sql`
select status, access_version from wallets where wallet_id = ${walletId} for update`)
  const [wallet] = wallets
  if (wallet?.status === 'closed') return { closing: 'closed', paidMinor: 0n, topUps: [] }
  if (wallet?.status !== 'active' || wallet.access_version !== accessVersion)
    return { closing: 'access_ended', paidMinor: 0n, topUps: [] }
  const { rows } = await transaction.query<OrderRow>(sql`
select ${plainSql(orderColumns)}
  from orders o
 where o.merchant_id = ${ownMerchantId} and o.tops_up = ${walletId} and o.status in ('pending', 'confirming')
 order by o.payment_id
   for no key update`)
  const topUps = rows.map(toOrder)
  const balances = await lockBalances(transaction, walletId)
  const paidMinor = balances.reduce((sum, { debitsPostedMinor }) => sum + debitsPostedMinor, 0n)
  return { closing: closingOf(balances, topUps), paidMinor, topUps }
}

async function lockBalances(transaction: Queryable, walletId: string): Promise<readonly Balances[]> {
  const accounts = await listAccounts(transaction, { ownerKind: 'wallet', ownerId: walletId })
  const locked = await lockAccounts(transaction, accounts.map(accountIdOf))
  return accounts.map((account) => locked.get(accountIdOf(account)) ?? noBalances)
}

function closingOf(balances: readonly Balances[], topUps: readonly Order[]): Closing | 'empty' {
  if (balances.some((each) => each.debitsPendingMinor + each.creditsPendingMinor > 0n)) return 'under_way'
  if (balances.some((each) => each.creditsPostedMinor !== each.debitsPostedMinor)) return 'not_empty'
  const isPaid = topUps.some(
    ({ status, openAttempt }) => status === 'confirming' || openAttempt !== undefined,
  )
  return isPaid ? 'under_way' : 'empty'
}

async function erase(
  transaction: Queryable,
  { walletId, sealedPin, name }: ClosedWallet,
  nowMs: number,
): Promise<void> {
  const { rows } = await transaction.query<{ login: string }>(sql`
select login from wallets where wallet_id = ${walletId}`)
  const login = rows[0]?.login ?? ''
  await transaction.query(sql`
update wallets
   set status = 'closed', closed_at = ${nowMs}, login = ${loginOfClosed(walletId)}, name = ${name},
       sealed_pin = ${sealedPin}, language = null, confirmed_at = null, tries = 0, locked_until = null,
       last_try_at = null
 where wallet_id = ${walletId}`)
  await endAccess(transaction, walletId)
  await removePasskeys(transaction, login, walletTables)
  await forgetSources(transaction, login)
  await transaction.query(sql`delete from pin_resets where wallet_id = ${walletId}`)
  // The same address may also belong to a merchant or an operator.
  await transaction.query(
    sql`delete from emails where recipient = ${login} and kind = any (${consumerKinds}::text[])`,
  )
  await transaction.query(
    sql`delete from email_optouts where email = ${login} and kind = any (${consumerKinds}::text[])`,
  )
}

interface OrderBatch {
  readonly walletId: string
  readonly after: string
  readonly limit: number
  readonly erase: ErasureBatch['erase']
}

/** Uses transfers_from_wallet, in the order of payments. */
async function eraseOrders(
  transaction: Queryable,
  { walletId, after, limit, erase: without }: OrderBatch,
): Promise<{ readonly seen: number; readonly last: string }> {
  const accounts = await listAccounts(transaction, { ownerKind: 'wallet', ownerId: walletId })
  const { rows } = await transaction.query<{
    merchant_id: string
    payment_id: string
    content: string
    attach: string | null
  }>(sql`
select o.merchant_id, o.payment_id, o.content, o.attach
  from transfers t
  join orders o on o.merchant_id = t.merchant_id and o.payment_id = t.payment_id
 where t.debit_account = any (${accounts.map(accountIdOf)}) and starts_with(t.debit_account, 'wallet:')
   and t.phase in ('post', 'direct') and t.kind = 'payment' and t.payment_id > ${after}
 order by t.payment_id
 limit ${limit}`)
  const erased = rows.flatMap((row): Erased[] => {
    const left = without({ content: row.content, attach: row.attach ?? undefined })
    return left ? [{ merchantId: row.merchant_id, paymentId: row.payment_id, ...left }] : []
  })
  await writeErased(transaction, erased)
  return { seen: rows.length, last: rows.at(-1)?.payment_id ?? after }
}
