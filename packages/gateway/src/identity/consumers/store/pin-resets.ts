// One-time codes for a new PIN. An attempt is counted before it is checked, and the code is removed in the transaction
// that uses it, so that one of two requests succeeds.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited, insertAuditEntry } from '../../../core/audit/store/audit.ts'
import type { NewEmail } from '../../../core/emails/rules/email.ts'
import { queueEmails } from '../../../core/emails/store/queue-emails.ts'
import { pinResetLimits } from '../../../core/wallets/rules/pin-reset.ts'
import { forgetSources } from '../../../core/wallets/store/pin-try-sources.ts'
import { endAccess } from '../../../core/wallets/store/wallet-access.ts'
import { countForgettings, setWalletTries } from '../../../core/wallets/store/wallets.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import { noTries } from '../../../platform/runtime/lockout.ts'
import { removePasskeys } from '../../accounts/store/passkeys.ts'
import { walletTables } from './wallet-sessions.ts'

export interface MailedReset extends PinResetKey {
  readonly nowMs: number
  readonly emails: readonly NewEmail[]
}

/** Created by an operator. */
export interface GivenReset extends PinResetKey {
  readonly login: string
  readonly isMailed: boolean
  readonly nowMs: number
}

export interface PinResetKey {
  readonly walletId: string
  readonly codeHash: string
}

export type PinResetStore = ReturnType<typeof makePinResetStore>

export function makePinResetStore(database: Pool) {
  return {
    /**
     * Replaces an earlier code and resets wrong attempts, so that the owner can use it. False if the wallet is closed.
     */
    giveOut: (given: GivenReset, entryFor: (forgettings: number) => AuditEntry) =>
      database.transaction(async (transaction) => {
        const done = await giveOut(transaction, given)
        if (done) await insertAuditEntry(transaction, entryFor(await countForgettings(transaction, given)))
        return done
      }),
    /** Stores the code with its email. An earlier valid code stays unless it was mailed some minutes ago. */
    mail: (given: MailedReset) => database.transaction((transaction) => mail(transaction, given)),
    /** False if the code was used or replaced. */
    use: (given: PinResetKey & { readonly login: string; readonly sealedPin: Buffer }, entry: AuditEntry) =>
      audited(database, entry, (transaction) => use(transaction, given)),
  }
}

async function giveOut(
  transaction: Queryable,
  { walletId, codeHash, login, isMailed, nowMs }: GivenReset,
): Promise<boolean> {
  // Locks the wallet first, as an attempt does.
  const { rowCount } = await transaction.query(sql`
select from wallets where wallet_id = ${walletId} and status <> 'closed' for no key update`)
  if (rowCount !== 1) return false
  await setWalletTries(transaction, walletId, noTries)
  await transaction.query(sql`delete from pin_resets where expires_at <= ${nowMs} or wallet_id = ${walletId}`)
  await transaction.query(sql`
insert into pin_resets (wallet_id, code_hash, is_mailed, created_at, expires_at)
values (${walletId}, ${codeHash}, ${isMailed}, ${nowMs}, ${nowMs + pinResetLimits.lifeMs})
    on conflict (wallet_id) do update
   set code_hash = excluded.code_hash, tries = 0, is_mailed = excluded.is_mailed, created_at = excluded.created_at,
       expires_at = excluded.expires_at`)
  await forgetSources(transaction, login)
  return true
}

/** Wrong attempts stay counted, because anyone who knows the login can request a code. */
async function mail(
  transaction: Queryable,
  { walletId, codeHash, nowMs, emails }: MailedReset,
): Promise<void> {
  // Locks the wallet first, as closing does: nothing is mailed to the owner of a closed wallet.
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
  if (rowCount === 1) await queueEmails(transaction, emails)
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
  // Locks the wallet first, as an attempt does.
  await transaction.query(sql`select 1 from wallets where wallet_id = ${walletId} for no key update`)
  const { rowCount } = await transaction.query(sql`
delete from pin_resets where wallet_id = ${walletId} and code_hash = ${codeHash}`)
  if (rowCount !== 1) return false
  await transaction.query(sql`
update wallets set sealed_pin = ${sealedPin} where wallet_id = ${walletId}`)
  await endAccess(transaction, walletId)
  // A person who knew the old PIN may have added passkeys.
  await removePasskeys(transaction, login, walletTables)
  await setWalletTries(transaction, walletId, noTries)
  await forgetSources(transaction, login)
  return true
}
