// Operators' transfers: top-ups, payouts and corrections, in one transaction with their audit entry.
import { Failure } from '@tillgate/protocol'
import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import {
  type AccountKey,
  type AccountOwner,
  accountKeyOf,
  availableMinor,
  effectsOf,
  type Transfer,
} from '../../../core/ledger/rules/transfer.ts'
import {
  type Account,
  addEffects,
  insertTransfers,
  listAccounts,
  lockAccounts,
  openAccounts,
} from '../../../core/ledger/store/ledger.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import { CommitUnknown } from '../../../platform/database/transient.ts'
import { checkBanks } from './bank-accounts.ts'
import { CorrectionRefused, checkHeld, findCorrectable, noteCorrected } from './corrections.ts'
import {
  findOwnTransfer,
  firstStatementDay,
  listFees,
  noteOpening,
  noteReversed,
  OpeningRefused,
  readOwnMoney,
} from './own-money.ts'
import { findUnderWay } from './pending-top-ups.ts'

/** `unknown`: the response to COMMIT was lost; `isRecorded` shows whether it committed. */
export type MoveOutcome =
  | 'moved'
  | 'insufficient_funds'
  | 'over_limit'
  | 'unknown'
  | CorrectionRefused['reason']
  | OpeningRefused['reason']

export type TreasuryStore = ReturnType<typeof makeTreasuryStore>

export function makeTreasuryStore(database: Pool) {
  return {
    listAccounts: (owner: AccountOwner): Promise<Account[]> => listAccounts(database, owner),
    /** Throws if one is at an unusable bank; then none is opened. */
    async openAccounts(keys: readonly AccountKey[]): Promise<void> {
      await checkBanks(database, keys)
      await openAccounts(database, keys)
    },
    /** All or none; the accounts must be open. `check` throws by the balances before, once they are locked. */
    move: (
      transfers: readonly Transfer[],
      entry: AuditEntry,
      { limits, check }: { readonly limits?: BalanceLimits; readonly check?: CheckBalances } = {},
    ) => move(database, transfers, { entry, limits, check }),
    /** Whether it already ran, by its own id or by the approval request that it uses up. */
    isRecorded: (entry: AuditEntry) => isRecorded(database, entry),
    /** Includes the amount already corrected. */
    findCorrectable: (key: { readonly merchantId: string; readonly transferId: string }) =>
      findCorrectable(database, key),
    recordedAt: (auditId: string) => recordedAt(database, auditId),
    readOwnMoney: (currency: string) => readOwnMoney(database, currency),
    listFees: (currency: string, limit: number) => listFees(database, currency, limit),
    findOwnTransfer: (of: { readonly auditId: string; readonly madeAtMs: number }) =>
      findOwnTransfer(database, of),
    firstStatementDay: (bankName: string, currency: string) =>
      firstStatementDay(database, bankName, currency),
  }
}

/** The maximum balance per account; a wallet's own limit takes precedence. */
export type BalanceLimits = ReadonlyMap<string, bigint | undefined>

export type CheckBalances = (balances: Awaited<ReturnType<typeof lockAccounts>>) => void

/** Thrown inside the transaction, which rolls back. */
class OverLimit extends Error {}

async function move(
  database: Pool,
  transfers: readonly Transfer[],
  {
    entry,
    limits,
    check,
  }: {
    readonly entry: AuditEntry
    readonly limits: BalanceLimits | undefined
    readonly check: CheckBalances | undefined
  },
): Promise<MoveOutcome> {
  try {
    const moved = await audited(database, entry, async (transaction) => {
      const isMoved = await moveWithin(transaction, transfers, check)
      if (isMoved && limits) await checkBalances(transaction, limits, entry.actedAtMs)
      return isMoved
    })
    return moved ? 'moved' : 'insufficient_funds'
  } catch (error) {
    if (error instanceof CommitUnknown) return 'unknown'
    if (error instanceof CorrectionRefused || error instanceof OpeningRefused) return error.reason
    if (error instanceof OverLimit) return 'over_limit'
    throw error
  }
}

/** False if the balance is too low; nothing was done. The accounts must be open. */
export async function moveWithin(
  transaction: Queryable,
  transfers: readonly Transfer[],
  check?: CheckBalances,
): Promise<boolean> {
  await checkWallets(transaction, transfers)
  for (const transfer of transfers) await checkHeld(transaction, transfer)
  const effects = effectsOf(transfers)
  const balances = await lockAccounts(transaction, effects.keys())
  check?.(balances)
  for (const [accountId, effect] of effects) {
    const balance = balances.get(accountId)
    if (!balance) throw new Error('every account of a transfer is open')
    const { ownerKind } = accountKeyOf(accountId)
    const isOverdrawn = availableMinor(balance) + availableMinor(effect) < 0n
    const isBounded = !mayBeOverdrawn(ownerKind) || (ownerKind === 'equity' && transfers.some(isWithdrawal))
    if (isOverdrawn && isBounded) return false
  }
  await checkBanks(transaction, [...effects.keys()].map(accountKeyOf))
  await insertTransfers(transaction, transfers)
  await addEffects(transaction, effects)
  for (const transfer of transfers) {
    await noteCorrected(transaction, transfer)
    await noteReversed(transaction, transfer)
    await noteOpening(transaction, transfer)
  }
  return true
}

function isWithdrawal({ kind }: Transfer): boolean {
  return kind === 'owner_withdrawal'
}

/**
 * A closed wallet receives no new money, except a returned withdrawal. Locks wallets before accounts, in the same
 * order as closing a wallet.
 */
async function checkWallets(transaction: Queryable, transfers: readonly Transfer[]): Promise<void> {
  const walletIds = transfers.flatMap(({ kind, debitAccountId, creditAccountId }) => {
    const to = accountKeyOf(creditAccountId)
    const isNew = kind === 'top_up' || accountKeyOf(debitAccountId).ownerKind === 'suspense'
    return isNew && to.ownerKind === 'wallet' ? [to.ownerId] : []
  })
  if (walletIds.length === 0) return
  const { rows } = await transaction.query<{ status: string }>(sql`
select status from wallets where wallet_id = any (${walletIds}::text[]) order by wallet_id for key share`)
  if (rows.some(({ status }) => status === 'closed'))
    throw new Failure('status_does_not_allow', { message: 'The wallet is closed and cannot receive money.' })
}

/**
 * External and own accounts. Fees become negative only through refunds, equity only through corrections and overdrawn
 * opening balances, never through a withdrawal.
 */
const mayBeBelowZero: readonly AccountKey['ownerKind'][] = [
  'bank',
  'rail',
  'write_off',
  'rail_fees',
  'equity',
  'bank_charges',
  'interest',
  'owed',
]

export function mayBeOverdrawn(ownerKind: AccountKey['ownerKind']): boolean {
  return mayBeBelowZero.includes(ownerKind)
}

/** Accounts changed, and thereby locked, by this transaction. Pending top-ups count as received. */
async function checkBalances(transaction: Queryable, limits: BalanceLimits, nowMs: number): Promise<void> {
  const keys = [...limits.keys()].map(accountKeyOf)
  const coming = await findUnderWay(
    transaction,
    keys.map(({ ownerId }) => ownerId),
    nowMs,
  )
  const underWay = keys.map(
    ({ ownerId, currency }) =>
      coming.find((each) => each.wallet_id === ownerId && each.currency === currency)?.minor ?? '0',
  )
  const { rows } = await transaction.query<{ account_id: string }>(sql`
select a.account_id
  from accounts a
  join unnest(${[...limits.keys()]}::text[], ${[...limits.values()].map((limit) => limit?.toString() ?? null)}::numeric[],
              ${underWay}::numeric[])
    as l (account_id, balance, under_way) on a.account_id = l.account_id
 where a.credits_posted - a.debits_posted + l.under_way > coalesce(a.balance_limit, l.balance)`)
  if (rows.length > 0) throw new OverLimit('more than may be in the wallet')
}

async function isRecorded(database: Queryable, { auditId, approval }: AuditEntry): Promise<boolean> {
  if (!approval) return (await recordedAt(database, auditId)) !== undefined
  const { rows } = await database.query(sql`
select 1 from approvals where approval_id = ${approval.approvalId} and status = 'approved'`)
  return rows.length > 0
}

async function recordedAt(database: Queryable, auditId: string): Promise<number | undefined> {
  const { rows } = await database.query<{ acted_at: string }>(sql`
select acted_at from audit where audit_id = ${auditId}`)
  return rows[0] && Number(rows[0].acted_at)
}
