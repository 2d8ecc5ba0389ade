// Sources of wrong PINs: an address or a known device with its tries at one login. For an unknown login, also the
// total of all addresses; a wallet's total is in its row.
import { createHash } from 'node:crypto'
import type { Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { Tries } from '../../../platform/runtime/lockout.ts'
import { loginsByAddress, sourceKeptMs } from '../rules/pin-lock.ts'

interface SourceKey {
  readonly source: string
  readonly login: string
}

interface SourceTry extends SourceKey {
  readonly nowMs: number
}

/** Not a possible address or device. */
export const allAddresses = 'all addresses'

/**
 * If the maximum of other logins from this source is reached, returns the time of the oldest. Locks the source until
 * the transaction ends, so that parallel tries see each other.
 */
export async function findOthersSince(
  transaction: Queryable,
  { source, login, nowMs }: SourceTry,
): Promise<number | undefined> {
  await transaction.query(
    sql`select pg_advisory_xact_lock(hashtextextended(${`tillgate tries ${source}`}, 0))`,
  )
  const { most, withinMs } = loginsByAddress
  const { rows } = await transaction.query<{ last_try_at: string }>(sql`
select last_try_at from wallet_tries
 where tried_from = ${source} and login_hash <> ${hashOf(login)} and last_try_at > ${nowMs - withinMs}
 order by last_try_at desc offset ${most - 1} limit 1`)
  return rows[0] && Number(rows[0].last_try_at)
}

const shape = rowShape<Tries>('tries', {
  count: number('tries'),
  lastAtMs: number('last_try_at'),
  lockedUntilMs: number('locked_until'),
})

/** Locked until the transaction ends, in a fixed order. */
export async function lockSources(
  transaction: Queryable,
  { source, login, nowMs }: SourceTry,
): Promise<{ readonly source: Tries; readonly allAddresses: Tries }> {
  const hash = hashOf(login)
  // The empty update locks the row; if it is missing, a concurrent insert waits.
  const { rows } = await transaction.query(sql`
insert into wallet_tries as t (tried_from, login_hash, tries, last_try_at)
values (${source}, ${hash}, 0, ${nowMs}), (${allAddresses}, ${hash}, 0, ${nowMs})
    on conflict (tried_from, login_hash) do update set tries = t.tries
returning ${shape.columns}`)
  const [own, all] = rows
  if (!own || !all) throw new Error('an insert or update returns its rows')
  return { source: shape.read(own), allAddresses: shape.read(all) }
}

export async function setSource(
  transaction: Queryable,
  { source, login, nowMs }: SourceTry,
  { count, lockedUntilMs }: Tries,
): Promise<void> {
  await transaction.query(sql`
update wallet_tries set tries = ${count}, last_try_at = ${nowMs}, locked_until = ${lockedUntilMs}
 where tried_from = ${source} and login_hash = ${hashOf(login)}`)
}

export async function deleteSource(transaction: Queryable, { source, login }: SourceKey): Promise<void> {
  await transaction.query(sql`
delete from wallet_tries where tried_from in (${source}, ${allAddresses}) and login_hash = ${hashOf(login)}`)
}

export async function forgetSources(transaction: Queryable, login: string): Promise<void> {
  await transaction.query(sql`delete from wallet_tries where login_hash = ${hashOf(login)}`)
}

/** Uses wallet_tries_last. */
export async function deleteForgotten(database: Queryable, nowMs: number): Promise<number> {
  return (await database.query(sql`delete from wallet_tries where last_try_at <= ${nowMs - sourceKeptMs}`))
    .rowCount
}

function hashOf(login: string): Buffer {
  return createHash('sha256').update(`tillgate login ${login}`).digest()
}
