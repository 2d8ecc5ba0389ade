// Wallets and their balances.

import { batched } from '../../../platform/database/batching.ts'
import { isDataError } from '../../../platform/database/data-error.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { allOf, prepared, sql } from '../../../platform/database/sql.ts'
import type { Tries } from '../../../platform/runtime/lockout.ts'
import type { AuditEntry } from '../../audit/rules/audit.ts'
import { audited, insertAuditEntry } from '../../audit/store/audit.ts'
import type { EmailLanguage } from '../../emails/rules/email.ts'
import { accountIdOf, walletAccount } from '../../ledger/rules/transfer.ts'
import { type Account, listAccounts } from '../../ledger/store/ledger.ts'
import { forgettingWithoutApproval } from '../rules/pin-lock.ts'
import type { NewWallet, Wallet } from '../rules/wallet.ts'
import { forgetSources } from './pin-try-sources.ts'
import { endAccess } from './wallet-access.ts'

export type WalletStore = ReturnType<typeof makeWalletStore>

const batching = { maxItems: 200, maxFlights: 2, isItemError: isDataError } as const

export function makeWalletStore(database: Pool) {
  return {
    findWallet: batched((ids: readonly string[]) => findWallets(database, ids), batching),
    findWalletByLogin: batched((logins: readonly string[]) => findWalletsByLogin(database, logins), batching),
    listWallets: (page: WalletPage) => listWallets(database, page),
    listTestWallets: () => listTestWallets(database),
    listBalances: (walletId: string): Promise<Account[]> =>
      listAccounts(database, { ownerKind: 'wallet', ownerId: walletId }),
    findAvailable: (walletId: string, currency: string) => findAvailable(database, walletId, currency),
    /** False if the login is taken, or for a test wallet in a live database. */
    insertWallet: (wallet: NewWallet, entry: AuditEntry) =>
      audited(database, entry, (transaction) => insertWallet(transaction, wallet)),
    /** Records that a wallet's data was exported. */
    recordExport: (entry: AuditEntry) => audited(database, entry, async () => true),
    /** Ends all other sessions. False if access was revoked since the confirmation. */
    setPin: (given: NewPin, entry: AuditEntry) =>
      audited(database, entry, (transaction) => setPin(transaction, given)),
    setLanguage: async (walletId: string, language: EmailLanguage): Promise<void> => {
      await database.query(sql`update wallets set language = ${language} where wallet_id = ${walletId}`)
    },
    /** False if the wallet is closed or does not exist. Unlocking also resets all wrong tries. */
    setStatus: (change: StatusChange, entryFor: EntryFor) =>
      database.transaction(async (transaction) => {
        const before = await setStatus(transaction, change)
        if (before === undefined) return false
        await insertAuditEntry(transaction, entryFor(await countForgettings(transaction, change), before))
        return true
      }),
  }
}

interface StatusChange {
  readonly walletId: string
  readonly status: Wallet['status']
  readonly nowMs: number
}

/** Receives the number of recent resets by operators, and the previous status. */
type EntryFor = (forgettings: number, before: Wallet['status']) => AuditEntry

interface NewPin {
  readonly walletId: string
  /** As of the confirmation of the old PIN. */
  readonly accessVersion: number
  readonly sealedPin: Buffer
  readonly tokenHash: Buffer
}

interface WalletPage {
  /** A walletId, or the start of login, name or last name. */
  readonly sought: string | undefined
  readonly limit: number
  readonly before?: string | undefined
}

/** A test wallet is locked in a live database. */
const isTestWalletInLive = `(behaviour is not null and exists (select 1 from database_mode where mode = 'live'))`

const shape = rowShape<Wallet>('wallet', {
  walletId: 'wallet_id',
  login: 'login',
  name: 'name',
  status: `case when ${isTestWalletInLive} then 'locked' else status end`,
  tries: number('tries'),
  lockedUntilMs: number('locked_until'),
  behaviour: 'behaviour',
  createdAtMs: number('created_at'),
  accessVersion: number('access_version'),
  language: 'language',
  confirmedAtMs: number('confirmed_at'),
})

export async function findWallets(
  database: Queryable,
  ids: readonly string[],
): Promise<(Wallet | undefined)[]> {
  const { rows } = await database.query(prepared('find-wallets')`
select ${shape.columns} from wallets where wallet_id = any (${ids}::text[])`)
  const found = new Map(rows.map(shape.read).map((wallet) => [wallet.walletId, wallet]))
  return ids.map((id) => found.get(id))
}

async function findWalletsByLogin(
  database: Queryable,
  logins: readonly string[],
): Promise<(Wallet | undefined)[]> {
  const { rows } = await database.query(prepared('find-wallets-by-login')`
select ${shape.columns} from wallets where login = any (${logins}::text[])`)
  const found = new Map(rows.map(shape.read).map((wallet) => [wallet.login, wallet]))
  return logins.map((login) => found.get(login))
}

/** Uses wallets_login, wallets_name and wallets_last_name. */
async function listWallets(database: Queryable, { sought, limit, before }: WalletPage): Promise<Wallet[]> {
  const beginning = sql`lower(${sought?.replace(/[\\%_]/g, '\\$&')}) || '%'`
  const isFound = sql`
(wallet_id = ${sought} or login like ${beginning} or lower(name) like ${beginning} or ${lastName} like ${beginning})`
  const isOlder = sql`
(created_at, wallet_id) < (select created_at, wallet_id from wallets where wallet_id = ${before})`
  const { rows } = await database.query(sql`
select ${shape.columns}
  from wallets
 where ${allOf([sought !== undefined && isFound, before !== undefined && isOlder])}
 order by created_at desc, wallet_id desc
 limit ${limit}`)
  return rows.map(shape.read)
}

/** Matches the index expression. */
const lastName = sql`split_part(lower(name), ' ', -1)`

async function listTestWallets(database: Queryable): Promise<Wallet[]> {
  const { rows } = await database.query(sql`
select ${shape.columns} from wallets where behaviour is not null order by created_at, wallet_id`)
  return rows.map(shape.read)
}

/** In minor units. */
async function findAvailable(database: Queryable, walletId: string, currency: string): Promise<bigint> {
  const { rows } = await database.query<{ available: string }>(prepared('find-available')`
select credits_posted - debits_posted - debits_pending as available
  from accounts where account_id = ${accountIdOf(walletAccount(walletId, currency))}`)
  return BigInt(rows[0]?.available ?? 0)
}

export async function insertWallet(
  database: Queryable,
  { walletId, login, name, sealedPin, behaviour, createdAtMs, language, confirmedAtMs }: NewWallet,
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
insert into wallets (wallet_id, login, name, sealed_pin, status, behaviour, created_at, language, confirmed_at)
select ${walletId}, ${login}, ${name}, ${sealedPin}, 'active', ${behaviour}, ${createdAtMs}, ${language}, ${confirmedAtMs}
 where ${behaviour}::text is null or not exists (select 1 from database_mode where mode = 'live')
    on conflict do nothing`)
  return rowCount === 1
}

/** Returns the previous status; undefined if the wallet is closed. */
async function setStatus(
  transaction: Queryable,
  { walletId, status }: StatusChange,
): Promise<Wallet['status'] | undefined> {
  const isUnlocked = status === 'active'
  const { rows } = await transaction.query<{ login: string; before: Wallet['status'] }>(sql`
update wallets w
   set status = ${status},
       tries = case when ${isUnlocked} then 0 else tries end,
       locked_until = case when ${isUnlocked} then null else locked_until end
  from (select wallet_id, status from wallets where wallet_id = ${walletId} for no key update) as b
 where w.wallet_id = b.wallet_id and b.status <> 'closed'
returning login, b.status as before`)
  const [row] = rows
  if (!row) return undefined
  if (isUnlocked) await forgetSources(transaction, row.login)
  // Unlocking does not restore sessions that the lock ended.
  else await endAccess(transaction, walletId)
  return row.before
}

/** The wallet's row is locked, so that concurrent resets count each other. Uses audit_acted_at. */
export async function countForgettings(
  transaction: Queryable,
  { walletId, nowMs }: Pick<StatusChange, 'walletId' | 'nowMs'>,
): Promise<number> {
  const { rows } = await transaction.query<{ count: string }>(sql`
select count(*) from audit
 where acted_at > ${nowMs - forgettingWithoutApproval.withinMs} and subject = ${walletId}
   and act in ('wallet.unlock', 'wallet.reset-pin')`)
  return Number(rows[0]?.count)
}

async function setPin(
  transaction: Queryable,
  { walletId, accessVersion, sealedPin, tokenHash }: NewPin,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update wallets set sealed_pin = ${sealedPin}
 where wallet_id = ${walletId} and status = 'active' and access_version = ${accessVersion}`)
  if (rowCount !== 1) return false
  // Another person may have the code.
  await transaction.query(sql`delete from pin_resets where wallet_id = ${walletId}`)
  await endAccess(transaction, walletId, { tokenHash })
  return true
}

/** Locks the wallet until the transaction ends. */
export async function findWalletForTry(
  transaction: Queryable,
  login: string,
): Promise<{ wallet: Wallet; sealedPin: Buffer; tries: Tries } | undefined> {
  const { rows } = await transaction.query<{ sealed_pin: Buffer; last_try_at: string | null }>(sql`
select ${shape.columns}, sealed_pin, last_try_at from wallets where login = ${login} for no key update`)
  const [row] = rows
  if (!row) return undefined
  const wallet = shape.read(row)
  const lastAtMs = row.last_try_at === null ? undefined : Number(row.last_try_at)
  const tries = { count: wallet.tries, lastAtMs, lockedUntilMs: wallet.lockedUntilMs }
  return { wallet, sealedPin: row.sealed_pin, tries }
}

export async function setWalletTries(
  transaction: Queryable,
  walletId: string,
  { count, lastAtMs, lockedUntilMs }: Tries,
): Promise<void> {
  await transaction.query(sql`
update wallets set tries = ${count}, last_try_at = ${lastAtMs}, locked_until = ${lockedUntilMs}
 where wallet_id = ${walletId}`)
}
