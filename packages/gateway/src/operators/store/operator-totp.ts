// The second step of operators' signing in: sealed secrets, the last step that was used, and hashes of recovery codes.
import type { Pool, Queryable } from '../../database/pool.ts'
import type { Act } from '../rules/audit.ts'
import type { Access } from '../rules/operator.ts'
import { audited } from './audit.ts'
import { endAccess, holdAccess } from './operators.ts'

export type OperatorTotpStore = ReturnType<typeof makeOperatorTotpStore>

export interface StoredTotp {
  readonly sealedSecret: Buffer
  /** Undefined: begun, and not asked for at sign-in yet. */
  readonly confirmedAtMs: number | undefined
  readonly recoveryCodesLeft: number
}

export interface ConfirmedTotp extends Access {
  /** That of the code which confirmed it. */
  readonly sealedSecret: Buffer
  readonly step: number
  readonly nowMs: number
  readonly recoveryHashes: readonly Buffer[]
}

/** What operators do with their own throws where their access was ended meanwhile. */
export function makeOperatorTotpStore(database: Pool) {
  return {
    findTotp: (login: string) => findTotp(database, login),
    /** Anew as often as one likes, until it is confirmed; false from then on. */
    beginTotp: (begun: BegunTotp, act: Act) =>
      audited(database, act, (transaction) => beginTotp(transaction, begun)),
    /** False: it was confirmed already, or begun anew. */
    confirmTotp: (confirmed: ConfirmedTotp, act: Act) =>
      audited(database, act, (transaction) => confirmTotp(transaction, confirmed)),
    /** False: this step or a later one was used already. */
    takeStep: (login: string, step: number) => takeStep(database, login, step),
    /** False: there is no such code, or not any more. */
    takeRecoveryCode: (code: { login: string; hash: Buffer }, act: Act) =>
      audited(database, act, (transaction) => takeRecoveryCode(transaction, code)),
    /** False: there was nothing. */
    removeTotp: (access: Access, act: Act) =>
      audited(database, act, async (transaction) => {
        await holdAccess(transaction, access)
        return removeTotp(transaction, access.login)
      }),
    /** By somebody else: it also ends all access, which may be a thief's. False: there was nothing. */
    resetTotp: (login: string, act: Act) =>
      audited(database, act, async (transaction) => {
        // The operator before the second step, as everywhere: the other way round two could wait for each other.
        await transaction.query({
          text: 'select from operators where login = $1 for update',
          values: [login],
        })
        return (
          (await removeTotp(transaction, login)) && endAccess(transaction, { login, nowMs: act.actedAtMs })
        )
      }),
  }
}

async function findTotp(database: Queryable, login: string): Promise<StoredTotp | undefined> {
  const { rows } = await database.query<{
    sealed_secret: Buffer
    confirmed_at: string | null
    codes_left: string
  }>({
    text: `
select t.sealed_secret, t.confirmed_at,
       (select count(*) from operator_recovery_codes c where c.login = t.login) as codes_left
  from operator_totp t
 where t.login = $1`,
    values: [login],
  })
  const row = rows[0]
  return (
    row && {
      sealedSecret: row.sealed_secret,
      confirmedAtMs: row.confirmed_at === null ? undefined : Number(row.confirmed_at),
      recoveryCodesLeft: Number(row.codes_left),
    }
  )
}

interface BegunTotp extends Access {
  readonly sealedSecret: Buffer
  readonly nowMs: number
}

async function beginTotp(transaction: Queryable, begun: BegunTotp): Promise<boolean> {
  const { login, sealedSecret, nowMs } = begun
  await holdAccess(transaction, begun)
  const { rowCount } = await transaction.query({
    text: `
insert into operator_totp as t (login, sealed_secret, created_at)
values ($1, $2, $3)
    on conflict (login) do update set sealed_secret = $2, created_at = $3, last_step = 0
 where t.confirmed_at is null`,
    values: [login, sealedSecret, nowMs],
  })
  return rowCount === 1
}

async function confirmTotp(transaction: Queryable, confirmed: ConfirmedTotp): Promise<boolean> {
  const { login, sealedSecret, step, nowMs, recoveryHashes } = confirmed
  await holdAccess(transaction, confirmed)
  const { rowCount } = await transaction.query({
    text: `
update operator_totp set confirmed_at = $4, last_step = $3
 where login = $1 and sealed_secret = $2 and confirmed_at is null`,
    values: [login, sealedSecret, step, nowMs],
  })
  if (rowCount !== 1) return false
  await transaction.query({
    text: 'insert into operator_recovery_codes (login, code_hash) select $1, unnest($2::bytea[])',
    values: [login, recoveryHashes],
  })
  return true
}

/** In one statement, so that of two who send the same code one is right. */
async function takeStep(database: Queryable, login: string, step: number): Promise<boolean> {
  const { rowCount } = await database.query({
    text: `
update operator_totp set last_step = $2
 where login = $1 and last_step < $2 and confirmed_at is not null`,
    values: [login, step],
  })
  return rowCount === 1
}

async function takeRecoveryCode(
  transaction: Queryable,
  { login, hash }: { login: string; hash: Buffer },
): Promise<boolean> {
  const { rowCount } = await transaction.query({
    text: 'delete from operator_recovery_codes where login = $1 and code_hash = $2',
    values: [login, hash],
  })
  return rowCount === 1
}

async function removeTotp(transaction: Queryable, login: string): Promise<boolean> {
  const { rowCount } = await transaction.query({
    text: 'delete from operator_totp where login = $1',
    values: [login],
  })
  return rowCount === 1
}
