// Wallets and what is in them.

import { batched } from '../../database/batching.ts'
import { isDataError } from '../../database/data-error.ts'
import type { Pool, Queryable } from '../../database/pool.ts'
import { accountIdOf, walletAccount } from '../../ledger/rules/ledger.ts'
import { type Account, listAccounts } from '../../ledger/store/ledger.ts'
import type { Act } from '../../operators/rules/audit.ts'
import { audited } from '../../operators/store/audit.ts'
import type { Tries } from '../../platform/tries.ts'
import type { Behaviour, NewWallet, Wallet } from '../rules/wallet.ts'
import { forgetSources } from './try-sources.ts'

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
    /** False when there is no such wallet. Unlocking also forgets the wrong tries, of whoever made them. */
    setStatus: (change: { walletId: string; status: Wallet['status'] }, act: Act) =>
      audited(database, act, (transaction) => setStatus(transaction, change)),
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
const isTestWalletInLive = `(behaviour is not null and exists (select 1 from database_mode where mode = 'live'))`
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
insert into wallets (wallet_id, login, name, sealed_pin, status, behaviour, created_at)
select $1, $2, $3, $4, 'active', $5, $6
 where $5::text is null or not exists (select 1 from database_mode where mode = 'live')
    on conflict do nothing`,
    values: [
      wallet.walletId,
      wallet.login,
      wallet.name,
      wallet.sealedPin,
      wallet.behaviour ?? null,
      wallet.createdAtMs,
    ],
  })
  return rowCount === 1
}

async function setStatus(
  transaction: Queryable,
  { walletId, status }: { walletId: string; status: Wallet['status'] },
): Promise<boolean> {
  const { rows } = await transaction.query<{ login: string }>({
    text: `
update wallets
   set status = $2,
       tries = case when $2 = 'active' then 0 else tries end,
       locked_until = case when $2 = 'active' then null else locked_until end
 where wallet_id = $1
returning login`,
    values: [walletId, status],
  })
  const [row] = rows
  if (row && status === 'active') await forgetSources(transaction, row.login)
  return row !== undefined
}

/** The wallet, locked until the transaction ends, with what a try is held against. */
export async function findWalletForTry(
  transaction: Queryable,
  login: string,
): Promise<{ wallet: Wallet; sealedPin: Buffer; tries: Tries } | undefined> {
  const { rows } = await transaction.query<WalletRow & { sealed_pin: Buffer; last_try_at: string | null }>({
    text: `select ${columns}, sealed_pin, last_try_at from wallets where login = $1 for no key update`,
    values: [login],
  })
  const row = rows[0]
  if (!row) return undefined
  const wallet = toWallet(row)
  const lastAtMs = row.last_try_at === null ? undefined : Number(row.last_try_at)
  const tries = { count: wallet.tries, lastAtMs, lockedUntilMs: wallet.lockedUntilMs }
  return { wallet, sealedPin: row.sealed_pin, tries }
}

export async function setWalletTries(
  transaction: Queryable,
  walletId: string,
  { count, lastAtMs, lockedUntilMs }: Tries,
): Promise<void> {
  await transaction.query({
    text: 'update wallets set tries = $2, last_try_at = $3, locked_until = $4 where wallet_id = $1',
    values: [walletId, count, lastAtMs ?? null, lockedUntilMs ?? null],
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
