// Closing a wallet: what is personal goes, in the transaction that finds it empty; what the books need stays under a number
// that tells nobody. Orders that it paid are erased before, in batches: a wallet may have many, and erasing twice does
// nothing.

import { removePasskeys } from '../../accounts/store/passkeys.ts'
import { commitQueueing, type OnQueued } from '../../callbacks/store/callbacks.ts'
import type { Pool, Queryable } from '../../database/pool.ts'
import { plainSql, sql } from '../../database/sql.ts'
import { accountIdOf, noBalances } from '../../ledger/rules/transfer.ts'
import { listAccounts, lockAccounts } from '../../ledger/store/ledger.ts'
import { consumerKinds } from '../../notices/rules/kinds.ts'
import type { Act } from '../../operators/rules/audit.ts'
import { insertAct } from '../../operators/store/audit.ts'
import type { Order } from '../../orders/rules/order.ts'
import type { StatusChange } from '../../orders/rules/status-change.ts'
import { type Erased, writeErased } from '../../orders/store/erasure.ts'
import { changeStatuses, type OrderRow, orderColumns, toOrder } from '../../orders/store/orders.ts'
import { ownMerchantId } from '../rules/top-up.ts'
import { loginOfClosed } from '../rules/wallet.ts'
import { forgetSources } from './pin-try-sources.ts'
import { endAccess, walletTables } from './wallet-sessions.ts'

/** `not_empty`: there is money in it. `under_way`: something may still come or go. */
export type Closing = 'closed' | 'not_empty' | 'under_way'

export type ClosingStore = ReturnType<typeof makeClosingStore>

export interface ClosedWallet {
  readonly walletId: string
  /** Of a secret that nobody knows. */
  readonly sealedPin: Buffer
  /** What stands for the name. */
  readonly name: string
  /** Ends a top-up that nobody began to pay. */
  readonly endTopUp: (order: Order) => StatusChange | undefined
}

export interface ClosedNow {
  readonly closing: Closing
  /** The top-ups that ended with it. */
  readonly ended: readonly StatusChange[]
}

export function makeClosingStore(database: Pool, onQueued: OnQueued = () => {}) {
  return {
    /** As it stands now; nothing changes. */
    check: (walletId: string): Promise<Closing> =>
      database.transaction(async (transaction) => (await check(transaction, walletId)).closing),
    /** How many were looked at; `after`: the last of the batch before. */
    eraseOrders: (batch: OrderBatch) =>
      database.transaction((transaction) => eraseOrders(transaction, batch)),
    close: (closed: ClosedWallet, act: Act): Promise<ClosedNow> =>
      commitQueueing<ClosedNow>(database, onQueued, async (transaction) => {
        const { closing, topUps } = await check(transaction, closed.walletId)
        if (closing !== 'closed') return { result: { closing, ended: [] }, queued: [] }
        const changes = topUps.flatMap((order) => closed.endTopUp(order) ?? [])
        const { won: ended, queued } = await changeStatuses(transaction, changes)
        await erase(transaction, closed, act.actedAtMs)
        await insertAct(transaction, act)
        return { result: { closing, ended }, queued }
      }),
  }
}

interface Checked {
  readonly closing: Closing
  /** Those that are not over; where it may be closed, nobody began to pay them, and nobody does before its end. */
  readonly topUps: readonly Order[]
}

/**
 * Nobody who holds the wallet's row, one of its top-ups or one of its accounts is passed by. In this order: whoever ends a
 * top-up takes the order first, and the account then.
 */
async function check(transaction: Queryable, walletId: string): Promise<Checked> {
  await transaction.query(sql`select from wallets where wallet_id = ${walletId} for update`)
  const { rows } = await transaction.query<OrderRow>(sql`
select ${plainSql(orderColumns)}
  from orders o
 where o.merchant_id = ${ownMerchantId} and o.tops_up = ${walletId} and o.status in ('pending', 'confirming')
 order by o.payment_id
   for no key update`)
  const topUps = rows.map(toOrder)
  return { closing: await closingOf(transaction, walletId, topUps), topUps }
}

async function closingOf(
  transaction: Queryable,
  walletId: string,
  topUps: readonly Order[],
): Promise<Closing> {
  const accounts = await listAccounts(transaction, { ownerKind: 'wallet', ownerId: walletId })
  const locked = await lockAccounts(transaction, accounts.map(accountIdOf))
  const balances = accounts.map((account) => locked.get(accountIdOf(account)) ?? noBalances)
  if (balances.some((each) => each.debitsPendingMinor + each.creditsPendingMinor > 0n)) return 'under_way'
  if (balances.some((each) => each.creditsPostedMinor !== each.debitsPostedMinor)) return 'not_empty'
  const isPaid = topUps.some(
    ({ status, openAttempt }) => status === 'confirming' || openAttempt !== undefined,
  )
  return isPaid ? 'under_way' : 'closed'
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
       sealed_pin = ${sealedPin}, pin_hash = null, language = null, confirmed_at = null, tries = 0, locked_until = null,
       last_try_at = null
 where wallet_id = ${walletId}`)
  await endAccess(transaction, walletId)
  await removePasskeys(transaction, login, walletTables)
  await forgetSources(transaction, login)
  await transaction.query(sql`delete from pin_resets where wallet_id = ${walletId}`)
  // The same address may be a merchant's or an operator's.
  await transaction.query(
    sql`delete from notices where recipient = ${login} and kind = any (${consumerKinds}::text[])`,
  )
  await transaction.query(
    sql`delete from notice_optouts where email = ${login} and kind = any (${consumerKinds}::text[])`,
  )
}

interface OrderBatch {
  readonly walletId: string
  readonly after: string
  readonly limit: number
  readonly erase: (content: string) => Pick<Erased, 'content' | 'contentHash'> | undefined
}

/** By transfers_from_wallet, in the order of payments. */
async function eraseOrders(
  transaction: Queryable,
  { walletId, after, limit, erase: without }: OrderBatch,
): Promise<{ readonly seen: number; readonly last: string }> {
  const accounts = await listAccounts(transaction, { ownerKind: 'wallet', ownerId: walletId })
  const { rows } = await transaction.query<{ merchant_id: string; payment_id: string; content: string }>(sql`
select o.merchant_id, o.payment_id, o.content
  from transfers t
  join orders o on o.merchant_id = t.merchant_id and o.payment_id = t.payment_id
 where t.debit_account = any (${accounts.map(accountIdOf)}) and starts_with(t.debit_account, 'wallet:')
   and t.phase in ('post', 'direct') and t.kind = 'payment' and t.payment_id > ${after}
 order by t.payment_id
 limit ${limit}`)
  const erased = rows.flatMap((row): Erased[] => {
    const left = without(row.content)
    return left ? [{ merchantId: row.merchant_id, paymentId: row.payment_id, ...left }] : []
  })
  await writeErased(transaction, erased)
  return { seen: rows.length, last: rows.at(-1)?.payment_id ?? after }
}
