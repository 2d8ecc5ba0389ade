// Where wrong PINs come from: an address or a known device, and its tries at one login, whoever's that is. Of a login
// that nobody has, the tries of all addresses together too: a wallet's own stand in its row.
import { createHash } from 'node:crypto'
import type { Queryable } from '../../database/pool.ts'
import type { Tries } from '../../platform/tries.ts'
import { loginsByAddress, sourceKeptMs } from '../rules/wallet-tries.ts'

interface SourceKey {
  readonly source: string
  readonly login: string
}

interface SourceTry extends SourceKey {
  readonly nowMs: number
}

/** Like a source, and none that an address or a device could be. */
export const allAddresses = 'all addresses'

/** When so many other logins as are allowed had a wrong PIN from here lately, the time of the oldest of them. */
export async function findOthersSince(
  transaction: Queryable,
  { source, login, nowMs }: SourceTry,
): Promise<number | undefined> {
  const { rows } = await transaction.query<{ last_try_at: string }>({
    text: `
select last_try_at from wallet_tries
 where tried_from = $1 and login_hash <> $2 and last_try_at > $3
 order by last_try_at desc offset $4 limit 1`,
    values: [source, hashOf(login), nowMs - loginsByAddress.withinMs, loginsByAddress.most - 1],
  })
  return rows[0] && Number(rows[0].last_try_at)
}

/** Until the transaction ends, in one order everywhere. */
export async function lockSources(
  transaction: Queryable,
  { source, login, nowMs }: SourceTry,
): Promise<{ readonly source: Tries; readonly allAddresses: Tries }> {
  const { rows } = await transaction.query<TriesRow>({
    // An update of nothing locks the row; where there is none yet, of two at once the second waits for the first.
    text: `
insert into wallet_tries as t (tried_from, login_hash, tries, last_try_at) values ($1, $3, 0, $4), ($2, $3, 0, $4)
    on conflict (tried_from, login_hash) do update set tries = t.tries
returning tries, last_try_at, locked_until`,
    values: [source, allAddresses, hashOf(login), nowMs],
  })
  const [own, all] = rows
  if (!own || !all) throw new Error('an insert or update returns its rows')
  return { source: toTries(own), allAddresses: toTries(all) }
}

interface TriesRow {
  readonly tries: number
  readonly last_try_at: string
  readonly locked_until: string | null
}

function toTries(row: TriesRow): Tries {
  return {
    count: row.tries,
    lastAtMs: Number(row.last_try_at),
    lockedUntilMs: row.locked_until === null ? undefined : Number(row.locked_until),
  }
}

export async function setSource(
  transaction: Queryable,
  { source, login, nowMs }: SourceTry,
  { count, lockedUntilMs }: Tries,
): Promise<void> {
  await transaction.query({
    text: `
update wallet_tries set tries = $3, last_try_at = $4, locked_until = $5
 where tried_from = $1 and login_hash = $2`,
    values: [source, hashOf(login), count, nowMs, lockedUntilMs ?? null],
  })
}

export async function deleteSource(transaction: Queryable, { source, login }: SourceKey): Promise<void> {
  await transaction.query({
    text: 'delete from wallet_tries where tried_from in ($1, $2) and login_hash = $3',
    values: [source, allAddresses, hashOf(login)],
  })
}

/** An operator unlocks the wallet: everybody may try again. */
export async function forgetSources(transaction: Queryable, login: string): Promise<void> {
  await transaction.query({
    text: 'delete from wallet_tries where login_hash = $1',
    values: [hashOf(login)],
  })
}

/** By wallet_tries_last. */
export async function deleteForgotten(database: Queryable, nowMs: number): Promise<number> {
  const { rowCount } = await database.query({
    text: 'delete from wallet_tries where last_try_at <= $1',
    values: [nowMs - sourceKeptMs],
  })
  return rowCount
}

function hashOf(login: string): Buffer {
  return createHash('sha256').update(`tillgate login ${login}`).digest()
}
