// Ends a wallet's access and counts tries of its reset code, in the transaction that locks the wallet or changes its
// PIN.
import type { Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import { pinResetLimits } from '../rules/pin-reset.ts'

/** Ends sessions and invalidates confirmations in progress. */
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

/** Returns the hash to compare; undefined if there is no code or its tries are used up. */
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
