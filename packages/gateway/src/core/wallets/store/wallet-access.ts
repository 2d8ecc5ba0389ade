// What ends with a wallet's PIN, and what a code for a new PIN is held against: written by whoever locks the wallet or
// changes its PIN, in that transaction.
import type { Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import { pinResetLimits } from '../rules/pin-reset.ts'

/** Sessions end, and what is being proven just now is worth nothing. */
export async function endAccess(
  transaction: Queryable,
  walletId: string,
  but?: { readonly tokenHash: Buffer },
): Promise<void> {
  await transaction.query(
    sql`update wallets set access_version = access_version + 1 where wallet_id = ${walletId}`,
  )
  await transaction.query(sql`
delete from wallet_sessions
 where wallet_id = ${walletId} and token_hash is distinct from ${but?.tokenHash}::bytea`)
}

/** The hash that a try is held against; undefined: there is no code, or it had its tries. */
export async function takeCodeTry(
  transaction: Queryable,
  walletId: string,
  nowMs: number,
): Promise<string | undefined> {
  const { rows } = await transaction.query<{ code_hash: string }>(sql`
update pin_resets set tries = tries + 1
 where wallet_id = ${walletId} and expires_at > ${nowMs} and tries < ${pinResetLimits.tries}
returning code_hash`)
  return rows[0]?.code_hash
}
