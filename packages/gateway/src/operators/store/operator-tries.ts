// Counting operators' tries, across all processes. Those to sign in count on the operator's row, or on one of the login's
// hash where no active operator has it; those of somebody who is signed in count on the session's row.
import { createHash } from 'node:crypto'
import type { Pool, Queryable } from '../../database/pool.ts'
import { number, rowShape } from '../../database/row-shape.ts'
import { plainSql, sql } from '../../database/sql.ts'
import { countTry, noTries, type Tries } from '../../platform/lockout.ts'
import { type Operator, operatorTriesLimit } from '../rules/operator.ts'
import { operatorShape } from './operators.ts'

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

interface TakenTry extends Tried {
  readonly kind: 'taken'
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

const triesShape = rowShape<Tries>('tries', {
  count: number('tries'),
  lastAtMs: number('last_try_at'),
  lockedUntilMs: number('locked_until'),
})

/** The operator whose password is tried, as it was before. */
interface Tried {
  readonly operator: Operator
  readonly sealedPassword: Buffer
}

const triedColumns = sql`${operatorShape.columns}, o.sealed_password as "sealedPassword"`

async function take(transaction: Queryable, attempt: OperatorTry): Promise<TryOutcome> {
  const { counter, before, tried } = await (attempt.session
    ? lockSession(transaction, attempt.login, attempt.session)
    : lockLogin(transaction, attempt))
  if (!before) return { kind: 'nobody' }
  const counted = countTry(before, operatorTriesLimit, attempt.nowMs)
  if (counted.kind === 'locked') return counted
  const after = counted.tries
  await setTries(transaction, counter, after)
  return tried ? { kind: 'taken', ...tried, counter, before, after } : { kind: 'nobody' }
}

/** A counter with its tries, and whose they are. */
interface LockedCounter {
  readonly counter: Counter
  readonly before: Tries | undefined
  readonly tried: Tried | undefined
}

async function lockLogin(transaction: Queryable, { login, nowMs }: OperatorTry): Promise<LockedCounter> {
  const loginHash = createHash('sha256').update(`tillgate operator ${login}`).digest()
  const unknown = await lockUnknown(transaction, loginHash, nowMs)
  const { rows } = await transaction.query(sql`
select ${triedColumns}, ${triesShape.columns} from operators o
 where login = ${login} and status = 'active' for no key update`)
  const [row] = rows
  if (!row) {
    const counter = { table: 'operator_tries', column: 'login_hash', key: loginHash } as const
    return { counter, before: unknown, tried: undefined }
  }
  const counter = { table: 'operators', column: 'login', key: login } as const
  return { counter, before: triesShape.read(row), tried: toTried(row) }
}

async function lockSession(transaction: Queryable, login: string, session: Buffer): Promise<LockedCounter> {
  const { rows } = await transaction.query(sql`
select ${triesShape.columns} from operator_sessions
 where token_hash = ${session} and login = ${login} for no key update`)
  const { rows: operators } = await transaction.query(sql`
select ${triedColumns} from operators o where login = ${login} and status = 'active'`)
  const counter = { table: 'operator_sessions', column: 'token_hash', key: session } as const
  return {
    counter,
    before: rows[0] && triesShape.read(rows[0]),
    tried: operators[0] && toTried(operators[0]),
  }
}

async function lockUnknown(transaction: Queryable, loginHash: Buffer, nowMs: number): Promise<Tries> {
  await transaction.query(sql`
delete from operator_tries
 where login_hash in (select login_hash from operator_tries
                       order by last_try_at desc offset ${maxUnknownLogins} for update skip locked)`)
  // An update of nothing locks the row; where there is none yet, of two at once the second waits for the first.
  const { rows } = await transaction.query(sql`
insert into operator_tries as t (login_hash, tries, last_try_at) values (${loginHash}, 0, ${nowMs})
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
update ${plainSql(table)} set tries = ${count}, last_try_at = ${lastAtMs}, locked_until = ${lockedUntilMs}
 where ${plainSql(column)} = ${key}`)
}

/** Only where no other try was counted since. */
async function giveBack(
  database: Queryable,
  { counter: { table, column, key }, before, after }: TakenTry,
): Promise<void> {
  await database.query(sql`
update ${plainSql(table)}
   set tries = ${before.count}, last_try_at = ${before.lastAtMs}, locked_until = ${before.lockedUntilMs}
 where ${plainSql(column)} = ${key} and tries = ${after.count} and last_try_at = ${after.lastAtMs}`)
}

async function deleteForgotten(database: Queryable, nowMs: number): Promise<number> {
  const { forgottenAfterMs, lockMs } = operatorTriesLimit
  const { rowCount } = await database.query(sql`
delete from operator_tries where last_try_at <= ${nowMs - forgottenAfterMs - Math.max(...lockMs)}`)
  return rowCount
}

/** Undefined: whoever signs in at an identity provider has no password, and is answered like nobody. */
function toTried(row: Readonly<Record<string, unknown>>): Tried | undefined {
  // Safe: the column is a bytea.
  const sealedPassword = row['sealedPassword'] as Buffer | null
  return sealedPassword === null ? undefined : { operator: operatorShape.read(row), sealedPassword }
}
