// Money that operators move: top-ups, payouts and corrections. Transfer and audit entry are one transaction.
import { Failure } from '@tillgate/protocol'
import type { Pool, Queryable } from '../../database/pool.ts'
import { sql } from '../../database/sql.ts'
import { CommitUnknown } from '../../database/transient.ts'
import {
  type AccountKey,
  type AccountOwner,
  accountKeyOf,
  availableMinor,
  effectsOf,
  type Transfer,
} from '../../ledger/rules/transfer.ts'
import {
  type Account,
  addEffects,
  insertTransfers,
  listAccounts,
  lockAccounts,
  openAccounts,
} from '../../ledger/store/ledger.ts'
import type { Act } from '../../operators/rules/audit.ts'
import { audited } from '../../operators/store/audit.ts'
import { findUnderWay } from '../../wallets/store/top-ups.ts'
import { checkBanks } from './bank-accounts.ts'
import { CorrectionRefused, checkHeld, findCorrectable, noteCorrected } from './corrections.ts'

/** `unknown`: the answer to COMMIT was lost; `isRecorded` tells. */
export type MoveOutcome =
  | 'moved'
  | 'insufficient_funds'
  | 'over_limit'
  | 'unknown'
  | CorrectionRefused['reason']

export type TreasuryStore = ReturnType<typeof makeTreasuryStore>

export function makeTreasuryStore(database: Pool) {
  return {
    listAccounts: (owner: AccountOwner): Promise<Account[]> => listAccounts(database, owner),
    /** Throws where one is at a bank that may not be used: nothing is opened then. */
    async openAccounts(keys: readonly AccountKey[]): Promise<void> {
      await checkBanks(database, keys)
      await openAccounts(database, keys)
    },
    /** All of them or none; the accounts are open. */
    move: (transfers: readonly Transfer[], act: Act, limits?: BalanceLimits) =>
      move(database, transfers, { act, limits }),
    /** Whether it was carried out already: by its own id, or by the request that it uses up. */
    isRecorded: (act: Act) => isRecorded(database, act),
    /** With how much of it was corrected. */
    findCorrectable: (key: { readonly merchantId: string; readonly transferId: string }) =>
      findCorrectable(database, key),
    recordedAt: (auditId: string) => recordedAt(database, auditId),
  }
}

/** The most that may be in each of these accounts; a wallet's own goes before it. */
export type BalanceLimits = ReadonlyMap<string, bigint | undefined>

/** Thrown within the transaction, so that nothing of it stays. */
class OverLimit extends Error {}

async function move(
  database: Pool,
  transfers: readonly Transfer[],
  { act, limits }: { readonly act: Act; readonly limits: BalanceLimits | undefined },
): Promise<MoveOutcome> {
  try {
    const moved = await audited(database, act, async (transaction) => {
      const isMoved = await moveWithin(transaction, transfers)
      if (isMoved && limits) await checkBalances(transaction, limits, act.actedAtMs)
      return isMoved
    })
    return moved ? 'moved' : 'insufficient_funds'
  } catch (error) {
    if (error instanceof CommitUnknown) return 'unknown'
    if (error instanceof CorrectionRefused) return error.reason
    if (error instanceof OverLimit) return 'over_limit'
    throw error
  }
}

async function moveWithin(transaction: Queryable, transfers: readonly Transfer[]): Promise<boolean> {
  await checkWallets(transaction, transfers)
  for (const transfer of transfers) await checkHeld(transaction, transfer)
  const effects = effectsOf(transfers)
  const balances = await lockAccounts(transaction, effects.keys())
  for (const [accountId, effect] of effects) {
    const balance = balances.get(accountId)
    if (!balance) throw new Error('every account of a transfer is open')
    const isOverdrawn = availableMinor(balance) + availableMinor(effect) < 0n
    if (isOverdrawn && !mayBeOverdrawn(accountKeyOf(accountId).ownerKind)) return false
  }
  await checkBanks(transaction, [...effects.keys()].map(accountKeyOf))
  await insertTransfers(transaction, transfers)
  await addEffects(transaction, effects)
  for (const transfer of transfers) await noteCorrected(transaction, transfer)
  return true
}

/**
 * No new money for a closed wallet; what an operator took out of it may come back. Before the accounts, as its closing takes
 * the wallet first: whichever of the two is first, the other one sees it.
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
    throw new Failure('status_does_not_allow', { message: 'The wallet is closed: no money goes into it.' })
}

/** What lies outside, and what is the operator's own loss. */
export function mayBeOverdrawn(ownerKind: AccountKey['ownerKind']): boolean {
  return (
    ownerKind === 'bank' || ownerKind === 'rail' || ownerKind === 'write_off' || ownerKind === 'rail_fees'
  )
}

/** Of accounts that this transaction has changed, and so holds; what consumers have under way counts as if it were there. */
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

async function isRecorded(database: Queryable, { auditId, approval }: Act): Promise<boolean> {
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
