// Pending registrations, until the code is entered. An attempt is counted before it is checked, and the code is used up
// in the transaction that creates the wallet, so that one of two requests succeeds.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import type { NewEmail } from '../../../core/emails/rules/email.ts'
import { queueEmails } from '../../../core/emails/store/queue-emails.ts'
import { pinResetLimits } from '../../../core/wallets/rules/pin-reset.ts'
import type { NewWallet } from '../../../core/wallets/rules/wallet.ts'
import { insertWallet } from '../../../core/wallets/store/wallets.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import { insertSession, type WalletSession } from './wallet-sessions.ts'

interface RegistrationKey {
  readonly loginHash: string
  readonly codeHash: string
}

export interface AskedRegistration extends RegistrationKey {
  readonly nowMs: number
  /** The minimum time between two codes. */
  readonly everyMs: number
  /** Committed together with the code. */
  readonly emails: readonly NewEmail[]
}

export type RegistrationStore = ReturnType<typeof makeRegistrationStore>

export function makeRegistrationStore(database: Pool) {
  return {
    ask: (asked: AskedRegistration) => database.transaction((transaction) => ask(transaction, asked)),
    /** The hash to compare with; undefined if there is no code or its attempts are used up. */
    takeTry: (loginHash: string, nowMs: number) => takeTry(database, loginHash, nowMs),
    /** False if the code was used or the login is taken. */
    register: (
      key: RegistrationKey,
      made: { readonly wallet: NewWallet; readonly session: WalletSession },
      entry: AuditEntry,
    ) => audited(database, entry, (transaction) => register(transaction, key, made)),
  }
}

async function ask(
  transaction: Queryable,
  { loginHash, codeHash, nowMs, everyMs, emails }: AskedRegistration,
): Promise<void> {
  await transaction.query(sql`delete from registrations where expires_at <= ${nowMs}`)
  const { rowCount } = await transaction.query(sql`
insert into registrations as r (login_hash, code_hash, created_at, expires_at)
values (${loginHash}, ${codeHash}, ${nowMs}, ${nowMs + pinResetLimits.lifeMs})
    on conflict (login_hash) do update
   set code_hash = excluded.code_hash, tries = 0, created_at = excluded.created_at, expires_at = excluded.expires_at
 where r.created_at <= ${nowMs - everyMs}`)
  if (rowCount === 1) await queueEmails(transaction, emails)
}

async function takeTry(database: Queryable, loginHash: string, nowMs: number): Promise<string | undefined> {
  const { rows } = await database.query<{ code_hash: string }>(sql`
update registrations set tries = tries + 1
 where login_hash = ${loginHash} and expires_at > ${nowMs} and tries < ${pinResetLimits.tries}
returning code_hash`)
  return rows[0]?.code_hash
}

async function register(
  transaction: Queryable,
  { loginHash, codeHash }: RegistrationKey,
  { wallet, session }: { readonly wallet: NewWallet; readonly session: WalletSession },
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
delete from registrations where login_hash = ${loginHash} and code_hash = ${codeHash}`)
  if (rowCount !== 1 || !(await insertWallet(transaction, wallet))) return false
  await insertSession(transaction, session)
  return true
}
