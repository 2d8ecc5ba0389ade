// Accounts and transfers. Accounts are locked in id order and updated once per transaction; transfers are inserted
// and never changed.
import assert from 'node:assert/strict'
import type { Queryable } from '../../../platform/database/pool.ts'
import { type Plain, plainArray } from '../../../platform/runtime/node-workarounds/plain-array.ts'
import {
  type AccountKey,
  type AccountOwner,
  accountIdOf,
  type Balances,
  type Effects,
  type Transfer,
} from '../rules/transfer.ts'

export interface Account extends AccountKey, Balances {}

interface BalanceRow {
  debits_pending: string
  debits_posted: string
  credits_pending: string
  credits_posted: string
}

const maxKnownAccounts = 10_000

/**
 * Creates missing accounts outside the transactions that use them, so that no transaction waits for a new account
 * while it holds others. Accounts are never deleted, so known ones are not checked again.
 */
export function makeAccountOpener(database: Queryable): (keys: readonly AccountKey[]) => Promise<void> {
  const known = new Set<string>()
  return async (keys) => {
    const unknown = keys.filter((key) => !known.has(accountIdOf(key)))
    if (unknown.length === 0) return
    await openAccounts(database, unknown)
    if (known.size + unknown.length > maxKnownAccounts) known.clear()
    for (const key of unknown) known.add(accountIdOf(key))
  }
}

export async function openAccounts(database: Queryable, unsorted: readonly AccountKey[]): Promise<void> {
  const keys = unsorted.toSorted((a, b) => (accountIdOf(a) < accountIdOf(b) ? -1 : 1))
  await database.query({
    name: 'open-accounts',
    text: `
insert into accounts (account_id, owner_kind, owner_id, currency)
select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])
    on conflict do nothing`,
    values: [
      keys.map(accountIdOf),
      keys.map(({ ownerKind }) => ownerKind),
      keys.map(({ ownerId }) => ownerId),
      keys.map(({ currency }) => currency),
    ],
  })
}

/**
 * Locks existing accounts until the transaction ends, always in the same order: wallets, merchants, banks. The most
 * contended accounts come last and are held shortest.
 */
export async function lockAccounts(
  transaction: Queryable,
  accountIds: Iterable<string>,
): Promise<Map<string, Balances>> {
  const { rows } = await transaction.query<BalanceRow & { account_id: string }>({
    name: 'lock-accounts',
    text: `
select account_id, debits_pending, debits_posted, credits_pending, credits_posted
  from accounts
 where account_id = any ($1::text[])
 order by account_id desc
   for update`,
    values: [plainArray([...new Set(accountIds)])],
  })
  return new Map(rows.map((row) => [row.account_id, toBalances(row)]))
}

/** What wallets spend on a day, or get back, for their limits. */
export type Spent = ReadonlyMap<string, { readonly day: number; readonly minor: bigint }>

/** The accounts must be locked. A CHECK of the table rejects an overdraft. */
export async function addEffects(
  transaction: Queryable,
  effects: Effects,
  spent: Spent = new Map(),
): Promise<void> {
  if (effects.size === 0) return
  const all = [...effects]
  const { rowCount } = await transaction.query({
    name: 'add-to-accounts',
    text: `
update accounts a
   set debits_pending  = a.debits_pending  + e.debits_pending,
       debits_posted   = a.debits_posted   + e.debits_posted,
       credits_pending = a.credits_pending + e.credits_pending,
       credits_posted  = a.credits_posted  + e.credits_posted,
       spent_on        = greatest(a.spent_on, e.spent_on),
       spent           = case when e.spent_on is null then a.spent
                              when a.spent_on < e.spent_on then e.spent
                              when a.spent_on = e.spent_on or e.spent > 0 then greatest(0, a.spent + e.spent)
                              else a.spent end
  from unnest($1::text[], $2::numeric[], $3::numeric[], $4::numeric[], $5::numeric[], $6::integer[], $7::numeric[])
    as e (account_id, debits_pending, debits_posted, credits_pending, credits_posted, spent_on, spent)
 where a.account_id = e.account_id`,
    values: [
      plainArray(all.map(([accountId]) => accountId)),
      plainArray(all.map(([, effect]) => effect.debitsPendingMinor)),
      plainArray(all.map(([, effect]) => effect.debitsPostedMinor)),
      plainArray(all.map(([, effect]) => effect.creditsPendingMinor)),
      plainArray(all.map(([, effect]) => effect.creditsPostedMinor)),
      plainArray(all.map(([accountId]) => spent.get(accountId)?.day)),
      plainArray(all.map(([accountId]) => spent.get(accountId)?.minor)),
    ],
  })
  assert(rowCount === effects.size, 'every account of a transfer exists')
}

type Column = readonly [name: string, type: string, read: (transfer: Transfer) => Plain]

const columns: readonly Column[] = [
  ['merchant_id', 'text', ({ merchantId }) => merchantId],
  ['transfer_id', 'text', ({ transferId }) => transferId],
  ['kind', 'text', ({ kind }) => kind],
  ['phase', 'text', ({ phase }) => phase],
  ['debit_account', 'text', ({ debitAccountId }) => debitAccountId],
  ['credit_account', 'text', ({ creditAccountId }) => creditAccountId],
  ['currency', 'text', ({ currency }) => currency],
  ['amount_minor', 'numeric', ({ amountMinor }) => amountMinor],
  ['payment_id', 'text', ({ paymentId }) => paymentId],
  ['refund_id', 'text', ({ refundId }) => refundId],
  ['audit_id', 'uuid', ({ auditId }) => auditId],
  ['made_at', 'bigint', ({ madeAtMs }) => madeAtMs],
  ['hold_id', 'text', ({ holdId }) => holdId],
]
const outsideColumns: readonly Column[] = [
  ...columns,
  ['outside_reference', 'text', ({ outside }) => outside?.reference],
  ['value_date', 'date', ({ outside }) => outside?.valueDate],
  ['corrects', 'text', ({ corrects }) => corrects],
]
// Only our own ids, numbers and words; external references are arbitrary text.
const insertion = insertionOf('insert-transfers', columns, plainArray)
const outsideInsertion = insertionOf('insert-outside-transfers', outsideColumns)

export async function insertTransfers(transaction: Queryable, transfers: readonly Transfer[]): Promise<void> {
  if (transfers.length === 0) return
  // Payments and refunds, the most frequent transfers, have neither.
  const isOutside = transfers.some(({ outside, corrects }) => outside ?? corrects)
  const insert = isOutside ? outsideInsertion : insertion
  await transaction.query(insert(transfers))
}

function insertionOf(
  name: string,
  into: readonly Column[],
  write: (values: Plain[]) => unknown = (values) => values,
) {
  const text = `
insert into transfers (${into.map(([column]) => column).join(', ')})
select * from unnest(${into.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ')})`
  return (transfers: readonly Transfer[]) => ({
    name,
    text,
    values: into.map(([, , read]) => write(transfers.map(read))),
  })
}

export async function listAccounts(
  database: Queryable,
  { ownerKind, ownerId }: AccountOwner,
): Promise<Account[]> {
  const { rows } = await database.query<BalanceRow & { currency: string }>({
    text: `
select currency, debits_pending, debits_posted, credits_pending, credits_posted
  from accounts
 where account_id >= $1 || ':' and account_id < $1 || ';' and owner_kind = $2 and owner_id = $3
 order by currency`,
    values: [`${ownerKind}:${ownerId}`, ownerKind, ownerId],
  })
  return rows.map((row) => ({ ownerKind, ownerId, currency: row.currency, ...toBalances(row) }))
}

function toBalances(row: BalanceRow): Balances {
  return {
    debitsPendingMinor: BigInt(row.debits_pending),
    debitsPostedMinor: BigInt(row.debits_posted),
    creditsPendingMinor: BigInt(row.credits_pending),
    creditsPostedMinor: BigInt(row.credits_posted),
  }
}
