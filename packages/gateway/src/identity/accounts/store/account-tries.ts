// Counts attempts across all processes. Sign-in attempts count on the account's row, or by the hash of the login if no
// active account has it. Attempts within a session count on the session's row.
import { createHash } from 'node:crypto'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, type RowShape, rowShape } from '../../../platform/database/row-shape.ts'
import { plainSql, type Sql, sql } from '../../../platform/database/sql.ts'
import { countTry, noTries, type Tries } from '../../../platform/runtime/lockout.ts'
import { type Account, accountTriesLimit } from '../rules/account.ts'
import type { AccountTables } from './account-tables.ts'

/** The number of unknown logins that are counted. Beyond it, the oldest attempts are deleted. */
const maxUnknownLogins = 10_000

export type AccountTriesStore<Person extends Account> = ReturnType<typeof makeAccountTriesStore<Person>>

/** `shape` reads the accounts table with the alias `o`. */
export function makeAccountTriesStore<Person extends Account>(
  database: Pool,
  kept: { readonly tables: AccountTables; readonly shape: RowShape<Person> },
) {
  return {
    /** Counts an attempt before it is checked, with the same statements for known and unknown logins. */
    take: (attempt: Attempt) => database.transaction((transaction) => take(transaction, attempt, kept)),
    /** Undoes the count after a right answer that does not complete the sign-in. */
    giveBack: (taken: Counted) => giveBack(database, taken),
    /** Resets the count after a complete sign-in. */
    forget: ({ counter }: Counted) => setTries(database, counter, noTries),
    /** Deletes counts of unknown logins and returns their number. */
    deleteForgotten: (nowMs: number) => deleteForgotten(database, nowMs, kept.tables),
  }
}

interface Kept<Person> {
  readonly tables: AccountTables
  readonly shape: RowShape<Person>
}

interface Attempt {
  readonly login: string
  readonly nowMs: number
  /** The hash of the session's token, for a signed-in person who confirms an action. */
  readonly session?: Buffer | undefined
}

interface TakenTry<Person> extends Tried<Person>, Counted {
  readonly kind: 'taken'
}

interface Counted {
  readonly counter: Counter
  readonly before: Tries
  readonly after: Tries
}

/** `no_account`: no active account has the login, or the session has ended. */
type TryOutcome<Person> =
  | TakenTry<Person>
  | { readonly kind: 'locked'; readonly untilMs: number }
  | { readonly kind: 'no_account' }

/** The row that counts attempts. */
interface Counter {
  readonly table: Sql
  readonly column: Sql
  readonly key: string | Buffer
}

const [byLogin, byLoginHash, byToken] = ['login', 'login_hash', 'token_hash'].map(plainSql) as [Sql, Sql, Sql]

const triesShape = rowShape<Tries>('tries', {
  count: number('tries'),
  lastAtMs: number('last_try_at'),
  lockedUntilMs: number('locked_until'),
})

/** The account as it was before the attempt. */
interface Tried<Person> {
  readonly account: Person
  readonly sealedPassword: Buffer
}

const sealedPassword = sql`o.sealed_password as "sealedPassword"`

async function take<Person>(
  transaction: Queryable,
  attempt: Attempt,
  kept: Kept<Person>,
): Promise<TryOutcome<Person>> {
  const { counter, before, tried } = await (attempt.session
    ? lockSession(transaction, { ...attempt, session: attempt.session }, kept)
    : lockLogin(transaction, attempt, kept))
  if (!before) return { kind: 'no_account' }
  const counted = countTry(before, accountTriesLimit, attempt.nowMs)
  if (counted.kind === 'locked') return counted
  const after = counted.tries
  await setTries(transaction, counter, after)
  return tried ? { kind: 'taken', ...tried, counter, before, after } : { kind: 'no_account' }
}

interface LockedCounter<Person> {
  readonly counter: Counter
  readonly before: Tries | undefined
  readonly tried: Tried<Person> | undefined
}

async function lockLogin<Person>(
  transaction: Queryable,
  { login, nowMs }: Attempt,
  { tables, shape }: Kept<Person>,
): Promise<LockedCounter<Person>> {
  const loginHash = createHash('sha256').update(`tillgate ${tables.kind} ${login}`).digest()
  const unknown = await lockUnknown(transaction, { loginHash, nowMs }, tables)
  const { rows } = await transaction.query(sql`
select ${shape.columns}, ${sealedPassword}, ${triesShape.columns} from ${tables.accounts} o
 where login = ${login} and status = 'active' for no key update`)
  const [row] = rows
  if (!row) {
    const counter = { table: tables.tries, column: byLoginHash, key: loginHash }
    return { counter, before: unknown, tried: undefined }
  }
  const counter = { table: tables.accounts, column: byLogin, key: login }
  return { counter, before: triesShape.read(row), tried: toTried(row, shape) }
}

async function lockSession<Person>(
  transaction: Queryable,
  { login, session }: Attempt & { readonly session: Buffer },
  { tables, shape }: Kept<Person>,
): Promise<LockedCounter<Person>> {
  const { rows } = await transaction.query(sql`
select ${triesShape.columns} from ${tables.sessions}
 where token_hash = ${session} and login = ${login} for no key update`)
  const { rows: accounts } = await transaction.query(sql`
select ${shape.columns}, ${sealedPassword} from ${tables.accounts} o where login = ${login} and status = 'active'`)
  return {
    counter: { table: tables.sessions, column: byToken, key: session },
    before: rows[0] && triesShape.read(rows[0]),
    tried: accounts[0] && toTried(accounts[0], shape),
  }
}

async function lockUnknown(
  transaction: Queryable,
  { loginHash, nowMs }: { loginHash: Buffer; nowMs: number },
  { tries }: AccountTables,
): Promise<Tries> {
  await transaction.query(sql`
delete from ${tries}
 where login_hash in (select login_hash from ${tries}
                       order by last_try_at desc offset ${maxUnknownLogins} for update skip locked)`)
  // An update that changes nothing locks the row. If it does not exist yet, the second of two transactions waits for
  // the first.
  const { rows } = await transaction.query(sql`
insert into ${tries} as t (login_hash, tries, last_try_at) values (${loginHash}, 0, ${nowMs})
    on conflict (login_hash) do update set tries = t.tries
returning ${triesShape.columns}`)
  if (!rows[0]) throw new Error('an insert or update returns its row')
  return triesShape.read(rows[0])
}

async function setTries(
  database: Queryable,
  { table, column, key }: Counter,
  { count, lastAtMs, lockedUntilMs }: Tries,
): Promise<void> {
  await database.query(sql`
update ${table} set tries = ${count}, last_try_at = ${lastAtMs}, locked_until = ${lockedUntilMs}
 where ${column} = ${key}`)
}

/** Only if no other attempt was counted since. */
async function giveBack(
  database: Queryable,
  { counter: { table, column, key }, before, after }: Counted,
): Promise<void> {
  await database.query(sql`
update ${table}
   set tries = ${before.count}, last_try_at = ${before.lastAtMs}, locked_until = ${before.lockedUntilMs}
 where ${column} = ${key} and tries = ${after.count} and last_try_at = ${after.lastAtMs}`)
}

async function deleteForgotten(
  database: Queryable,
  nowMs: number,
  { tries }: AccountTables,
): Promise<number> {
  const { forgottenAfterMs, lockMs } = accountTriesLimit
  const { rowCount } = await database.query(sql`
delete from ${tries} where last_try_at <= ${nowMs - forgottenAfterMs - Math.max(...lockMs)}`)
  return rowCount
}

/**
 * Undefined for an account of an identity provider: it has no password, and the response is that of an unknown login.
 */
function toTried<Person>(
  row: Readonly<Record<string, unknown>>,
  shape: RowShape<Person>,
): Tried<Person> | undefined {
  // Safe: the column is a bytea.
  const sealed = row['sealedPassword'] as Buffer | null
  return sealed === null ? undefined : { account: shape.read(row), sealedPassword: sealed }
}
