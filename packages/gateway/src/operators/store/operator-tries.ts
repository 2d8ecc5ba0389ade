// Counting operators' tries, across all processes. Those to sign in count on the operator's row, or on one of the login's
// hash where no active operator has it; those of somebody who is signed in count on the session's row.
import { createHash } from 'node:crypto'
import type { Pool, Queryable } from '../../database/pool.ts'
import { countTry, noTries, type Tries } from '../../platform/tries.ts'
import { type Operator, operatorTriesLimit } from '../rules/operator.ts'
import { type OperatorRow, operatorColumns, toOperator } from './operators.ts'

/** Of logins that nobody has; past that, what was tried longest ago is forgotten. */
const maxUnknownLogins = 10_000

export type OperatorTriesStore = ReturnType<typeof makeOperatorTriesStore>

export function makeOperatorTriesStore(database: Pool) {
  return {
    /** Counts a try before anybody knows whether it is right; the same statements for a login that nobody has. */
    take: (attempt: OperatorTry) => database.transaction((transaction) => take(transaction, attempt)),
    /** It was right, and is not the end of the signing in. */
    giveBack: (taken: TakenTry) => giveBack(database, taken),
    /** It was right. */
    forget: ({ counter }: TakenTry) => setTries(database, counter, noTries),
    /** Of logins that nobody has; how many. */
    deleteForgotten: (nowMs: number) => deleteForgotten(database, nowMs),
  }
}

interface OperatorTry {
  readonly login: string
  readonly nowMs: number
  /** Of whoever is signed in and proves anew who they are: the hash of its token. */
  readonly session?: Buffer | undefined
}

interface TakenTry {
  readonly kind: 'taken'
  /** As it was before this try. */
  readonly operator: Operator
  readonly sealedPassword: Buffer
  readonly counter: Counter
  readonly before: Tries
  readonly after: Tries
}

/** `nobody`: no active operator has the login, or the session is over. */
type TryOutcome =
  | TakenTry
  | { readonly kind: 'locked'; readonly untilMs: number }
  | { readonly kind: 'nobody' }

/** The row that has the tries. */
type Counter =
  | { readonly table: 'operators'; readonly column: 'login'; readonly key: string }
  | { readonly table: 'operator_tries'; readonly column: 'login_hash'; readonly key: Buffer }
  | { readonly table: 'operator_sessions'; readonly column: 'token_hash'; readonly key: Buffer }

interface TriesRow {
  tries: number
  last_try_at: string | null
  locked_until: string | null
}

type ProvenRow = OperatorRow & { sealed_password: Buffer }

async function take(transaction: Queryable, attempt: OperatorTry): Promise<TryOutcome> {
  const { counter, tries, row } = await (attempt.session
    ? lockSession(transaction, attempt.login, attempt.session)
    : lockLogin(transaction, attempt))
  if (!tries) return { kind: 'nobody' }
  const before = toTries(tries)
  const counted = countTry(before, operatorTriesLimit, attempt.nowMs)
  if (counted.kind === 'locked') return counted
  const after = counted.tries
  await setTries(transaction, counter, after)
  if (!row) return { kind: 'nobody' }
  const { sealed_password: sealedPassword } = row
  return { kind: 'taken', operator: toOperator(row), sealedPassword, counter, before, after }
}

/** A counter with its tries, and the operator whose password is tried. */
interface LockedCounter {
  readonly counter: Counter
  readonly tries: TriesRow | undefined
  readonly row: ProvenRow | undefined
}

async function lockLogin(transaction: Queryable, { login, nowMs }: OperatorTry): Promise<LockedCounter> {
  const loginHash = createHash('sha256').update(`tillgate operator ${login}`).digest()
  const unknown = await lockUnknown(transaction, loginHash, nowMs)
  const { rows } = await transaction.query<ProvenRow & TriesRow>({
    text: `
select ${operatorColumns('operators')}, sealed_password, last_try_at from operators
 where login = $1 and status = 'active' for no key update`,
    values: [login],
  })
  const [row] = rows
  const counter: Counter = row
    ? { table: 'operators', column: 'login', key: login }
    : { table: 'operator_tries', column: 'login_hash', key: loginHash }
  return { counter, tries: row ?? unknown, row }
}

async function lockSession(transaction: Queryable, login: string, session: Buffer): Promise<LockedCounter> {
  const { rows } = await transaction.query<TriesRow>({
    text: `
select tries, last_try_at, locked_until from operator_sessions
 where token_hash = $1 and login = $2 for no key update`,
    values: [session, login],
  })
  const { rows: operators } = await transaction.query<ProvenRow>({
    text: `
select ${operatorColumns('operators')}, sealed_password from operators
 where login = $1 and status = 'active'`,
    values: [login],
  })
  const counter = { table: 'operator_sessions', column: 'token_hash', key: session } as const
  return { counter, tries: rows[0], row: operators[0] }
}

async function lockUnknown(transaction: Queryable, loginHash: Buffer, nowMs: number): Promise<TriesRow> {
  await transaction.query({
    text: `
delete from operator_tries
 where login_hash in (select login_hash from operator_tries
                       order by last_try_at desc offset $1 for update skip locked)`,
    values: [maxUnknownLogins],
  })
  const { rows } = await transaction.query<TriesRow>({
    // An update of nothing locks the row; where there is none yet, of two at once the second waits for the first.
    text: `
insert into operator_tries as t (login_hash, tries, last_try_at) values ($1, 0, $2)
    on conflict (login_hash) do update set tries = t.tries
returning tries, last_try_at, locked_until`,
    values: [loginHash, nowMs],
  })
  if (!rows[0]) throw new Error('an insert or update returns its row')
  return rows[0]
}

async function setTries(
  database: Queryable,
  { table, column, key }: Counter,
  { count, lastAtMs, lockedUntilMs }: Tries,
): Promise<void> {
  await database.query({
    text: `update ${table} set tries = $2, last_try_at = $3, locked_until = $4 where ${column} = $1`,
    values: [key, count, lastAtMs ?? null, lockedUntilMs ?? null],
  })
}

/** Only where no other try was counted since. */
async function giveBack(
  database: Queryable,
  { counter: { table, column, key }, before, after }: TakenTry,
): Promise<void> {
  await database.query({
    text: `
update ${table} set tries = $4, last_try_at = $5, locked_until = $6
 where ${column} = $1 and tries = $2 and last_try_at = $3`,
    values: [
      key,
      after.count,
      after.lastAtMs,
      before.count,
      before.lastAtMs ?? null,
      before.lockedUntilMs ?? null,
    ],
  })
}

async function deleteForgotten(database: Queryable, nowMs: number): Promise<number> {
  const { forgottenAfterMs, lockMs } = operatorTriesLimit
  const { rowCount } = await database.query({
    text: 'delete from operator_tries where last_try_at <= $1',
    values: [nowMs - forgottenAfterMs - Math.max(...lockMs)],
  })
  return rowCount
}

function toTries(row: TriesRow): Tries {
  return {
    count: row.tries,
    lastAtMs: row.last_try_at === null ? undefined : Number(row.last_try_at),
    lockedUntilMs: row.locked_until === null ? undefined : Number(row.locked_until),
  }
}
