// One-time codes for a new PIN. A try is counted before anybody knows whether it is right, and whoever uses the code
// removes it in the same transaction: of two at once one wins.

import { removePasskeys } from '../../accounts/store/passkeys.ts'
import type { Pool, Queryable } from '../../database/pool.ts'
import { sql } from '../../database/sql.ts'
import type { NewNotice } from '../../notices/rules/notice.ts'
import { queueNotices } from '../../notices/store/queue-notices.ts'
import type { Act } from '../../operators/rules/audit.ts'
import { audited } from '../../operators/store/audit.ts'
import { noTries } from '../../platform/lockout.ts'
import { pinResetLimits } from '../rules/pin-reset.ts'
import { forgetSources } from './pin-try-sources.ts'
import { endAccess, walletTables } from './wallet-sessions.ts'
import { setWalletTries } from './wallets.ts'

export interface MailedReset extends PinResetKey {
  readonly nowMs: number
  readonly notices: readonly NewNotice[]
}

export interface PinResetKey {
  readonly walletId: string
  readonly codeHash: string
}

export type PinResetStore = ReturnType<typeof makePinResetStore>

export function makePinResetStore(database: Pool) {
  return {
    /** In place of the one before. Wrong tries are forgotten, so that the owner can use it. */
    giveOut: (given: PinResetKey & { readonly login: string; readonly nowMs: number }, act: Act) =>
      audited(database, act, (transaction) => giveOut(transaction, given)),
    /** With the mail that carries it. Another that is good still stays, unless it was mailed some minutes ago. */
    mail: (given: MailedReset) => database.transaction((transaction) => mail(transaction, given)),
    /** False: somebody else used it first, or it was replaced. */
    use: (given: PinResetKey & { readonly login: string; readonly sealedPin: Buffer }, act: Act) =>
      audited(database, act, (transaction) => use(transaction, given)),
  }
}

async function giveOut(
  transaction: Queryable,
  { walletId, codeHash, login, nowMs }: PinResetKey & { readonly login: string; readonly nowMs: number },
): Promise<boolean> {
  // The wallet first, as a try does.
  await setWalletTries(transaction, walletId, noTries)
  await transaction.query(sql`delete from pin_resets where expires_at <= ${nowMs} or wallet_id = ${walletId}`)
  await transaction.query(sql`
insert into pin_resets (wallet_id, code_hash, created_at, expires_at)
values (${walletId}, ${codeHash}, ${nowMs}, ${nowMs + pinResetLimits.lifeMs})
    on conflict (wallet_id) do update
   set code_hash = excluded.code_hash, tries = 0, is_mailed = false, created_at = excluded.created_at,
       expires_at = excluded.expires_at`)
  await forgetSources(transaction, login)
  return true
}

/** Wrong tries stay counted: whoever knows the login could ask. */
async function mail(
  transaction: Queryable,
  { walletId, codeHash, nowMs, notices }: MailedReset,
): Promise<void> {
  // The wallet first, as whoever closes it: nothing is left of a closed one, nor mailed to whose it was.
  const wallet = await transaction.query(sql`
select from wallets where wallet_id = ${walletId} and status = 'active' for key share`)
  if (wallet.rowCount !== 1) return
  const { rowCount } = await transaction.query(sql`
insert into pin_resets as p (wallet_id, code_hash, is_mailed, created_at, expires_at)
values (${walletId}, ${codeHash}, true, ${nowMs}, ${nowMs + pinResetLimits.lifeMs})
    on conflict (wallet_id) do update
   set code_hash = excluded.code_hash, tries = 0, is_mailed = true, created_at = excluded.created_at,
       expires_at = excluded.expires_at
 where p.expires_at <= ${nowMs} or (p.is_mailed and p.created_at <= ${nowMs - pinResetLimits.mailEveryMs})`)
  if (rowCount === 1) await queueNotices(transaction, notices)
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

async function use(
  transaction: Queryable,
  {
    walletId,
    codeHash,
    login,
    sealedPin,
  }: PinResetKey & { readonly login: string; readonly sealedPin: Buffer },
): Promise<boolean> {
  // The wallet first, as a try does.
  await transaction.query(sql`select 1 from wallets where wallet_id = ${walletId} for no key update`)
  const { rowCount } = await transaction.query(sql`
delete from pin_resets where wallet_id = ${walletId} and code_hash = ${codeHash}`)
  if (rowCount !== 1) return false
  await transaction.query(sql`
update wallets set sealed_pin = ${sealedPin}, pin_hash = null where wallet_id = ${walletId}`)
  await endAccess(transaction, walletId)
  // Whoever had the PIN before may have added some.
  await removePasskeys(transaction, login, walletTables)
  await setWalletTries(transaction, walletId, noTries)
  await forgetSources(transaction, login)
  return true
}
