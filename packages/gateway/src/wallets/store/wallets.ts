// Wallets, what is in them, and the counting of tries to sign in.

import { batched } from '../../database/batching.ts'
import { isDataError } from '../../database/data-error.ts'
import type { Pool, Queryable } from '../../database/pool.ts'
import { accountIdOf, walletAccount } from '../../ledger/rules/ledger.ts'
import { type Account, listAccounts } from '../../ledger/store/ledger.ts'
import type { Act } from '../../operators/rules/audit.ts'
import { audited } from '../../operators/store/audit.ts'
import type { Behaviour, NewWallet, Wallet } from '../rules/wallet.ts'

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
    /** False when the login is taken, or for a test wallet in a live database. */
    insertWallet: (wallet: NewWallet, act: Act) =>
      audited(database, act, (transaction) => insertWallet(transaction, wallet)),
    /** False when there is no such wallet. Unlocking also forgets the wrong tries. */
    setStatus: (change: { walletId: string; status: Wallet['status'] }, act: Act) =>
      audited(database, act, (transaction) => setStatus(transaction, change)),
    takeTry: (attempt: TryToTake) => takeTry(database, attempt),
    forgetTries: (walletId: string) => forgetTries(database, walletId),
  }
}

interface WalletPage {
  /** Logins and names that contain it; undefined: all. */
  readonly contains: string | undefined
  readonly limit: number
  /** Only what is older than this wallet. */
  readonly before?: string | undefined
}

interface WalletRow {
  wallet_id: string
  login: string
  name: string
  status: Wallet['status']
  tries: number
  locked_until: string | null
  behaviour: Behaviour | null
  created_at: string
}

/** A test wallet has no place in a live database: there it is locked, whoever made it. */
const isTestWalletInLive = `(behaviour is not null and exists (select from database_mode where mode = 'live'))`
const columns = `wallet_id, login, name, case when ${isTestWalletInLive} then 'locked' else status end as status,
  tries, locked_until, behaviour, created_at`

async function findWallets(database: Queryable, ids: readonly string[]): Promise<(Wallet | undefined)[]> {
  const { rows } = await database.query<WalletRow>({
    name: 'find-wallets',
    text: `select ${columns} from wallets where wallet_id = any ($1::text[])`,
    values: [ids],
  })
  const found = new Map(rows.map((row) => [row.wallet_id, toWallet(row)]))
  return ids.map((id) => found.get(id))
}

async function findWalletsByLogin(
  database: Queryable,
  logins: readonly string[],
): Promise<(Wallet | undefined)[]> {
  const { rows } = await database.query<WalletRow>({
    name: 'find-wallets-by-login',
    text: `select ${columns} from wallets where login = any ($1::text[])`,
    values: [logins],
  })
  const found = new Map(rows.map((row) => [row.login, toWallet(row)]))
  return logins.map((login) => found.get(login))
}

/** The newest first. */
async function listWallets(database: Queryable, { contains, limit, before }: WalletPage): Promise<Wallet[]> {
  const { rows } = await database.query<WalletRow>({
    text: `
select ${columns}
  from wallets
 where ($1::text is null or position(lower($1) in lower(login || ' ' || name)) > 0)
   and ($3::text is null or (created_at, wallet_id) < (select created_at, wallet_id from wallets where wallet_id = $3))
 order by created_at desc, wallet_id desc
 limit $2`,
    values: [contains ?? null, limit, before ?? null],
  })
  return rows.map(toWallet)
}

async function listTestWallets(database: Queryable): Promise<Wallet[]> {
  const { rows } = await database.query<WalletRow>({
    text: `select ${columns} from wallets where behaviour is not null order by created_at, wallet_id`,
  })
  return rows.map(toWallet)
}

/** What the wallet can spend in this currency, in minor units. */
async function findAvailable(database: Queryable, walletId: string, currency: string): Promise<bigint> {
  const { rows } = await database.query<{ available: string }>({
    name: 'find-available',
    text: `select credits_posted - debits_posted - debits_pending as available from accounts where account_id = $1`,
    values: [accountIdOf(walletAccount(walletId, currency))],
  })
  return BigInt(rows[0]?.available ?? 0)
}

export async function insertWallet(database: Queryable, wallet: NewWallet): Promise<boolean> {
  const { rowCount } = await database.query({
    text: `
insert into wallets (wallet_id, login, name, pin_hash, status, behaviour, created_at)
select $1, $2, $3, $4, 'active', $5, $6
 where $5::text is null or not exists (select from database_mode where mode = 'live')
    on conflict do nothing`,
    values: [
      wallet.walletId,
      wallet.login,
      wallet.name,
      wallet.pinHash,
      wallet.behaviour ?? null,
      wallet.createdAtMs,
    ],
  })
  return rowCount === 1
}

async function setStatus(
  database: Queryable,
  { walletId, status }: { walletId: string; status: Wallet['status'] },
): Promise<boolean> {
  const { rowCount } = await database.query({
    text: `
update wallets
   set status = $2,
       tries = case when $2 = 'active' then 0 else tries end,
       locked_until = case when $2 = 'active' then null else locked_until end
 where wallet_id = $1`,
    values: [walletId, status],
  })
  return rowCount === 1
}

interface TryToTake {
  readonly login: string
  readonly nowMs: number
  readonly maxTries: number
  readonly lockedForMs: number
}

/** A try that may be made: the wallet and the hash to compare with. */
export interface TakenTry {
  readonly wallet: Wallet
  readonly pinHash: string
}

/**
 * Counts a try before anybody knows whether it is right; the last one locks the wallet at once. Undefined: there is
 * no such wallet, or it is locked. One statement, so that tries at the same time, in however many processes, are
 * counted one after the other.
 */
async function takeTry(
  database: Queryable,
  { login, nowMs, maxTries, lockedForMs }: TryToTake,
): Promise<TakenTry | undefined> {
  const { rows } = await database.query<WalletRow & { pin_hash: string }>({
    name: 'take-try',
    text: `
update wallets
   set tries        = case when locked_until is null then tries else 0 end + 1,
       locked_until = case when case when locked_until is null then tries else 0 end + 1 >= $3
                           then $2::bigint + $4::bigint end
 where login = $1 and status = 'active' and not ${isTestWalletInLive}
   and (locked_until is null or locked_until <= $2)
returning ${columns}, pin_hash`,
    values: [login, nowMs, maxTries, lockedForMs],
  })
  const row = rows[0]
  return row && { wallet: toWallet(row), pinHash: row.pin_hash }
}

async function forgetTries(database: Queryable, walletId: string): Promise<void> {
  await database.query({
    name: 'forget-tries',
    text: 'update wallets set tries = 0, locked_until = null where wallet_id = $1',
    values: [walletId],
  })
}

function toWallet(row: WalletRow): Wallet {
  return {
    walletId: row.wallet_id,
    login: row.login,
    name: row.name,
    status: row.status,
    tries: row.tries,
    lockedUntilMs: row.locked_until === null ? undefined : Number(row.locked_until),
    behaviour: row.behaviour ?? undefined,
    createdAtMs: Number(row.created_at),
  }
}
