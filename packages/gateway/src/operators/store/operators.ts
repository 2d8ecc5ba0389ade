// Operators and their sessions.
import type { Pool, Queryable } from '../../database/pool.ts'
import { number, rowShape } from '../../database/row-shape.ts'
import { prepared, sql } from '../../database/sql.ts'
import type { Act } from '../rules/audit.ts'
import { type Access, accessEnded, type NewOperator, type Operator } from '../rules/operator.ts'
import { audited } from './audit.ts'

export type OperatorStore = ReturnType<typeof makeOperatorStore>

export interface Session {
  readonly tokenHash: Buffer
  readonly login: string
  readonly address: string
  readonly createdAtMs: number
  readonly lastSeenAtMs: number
  readonly endsAtMs: number
}

export function makeOperatorStore(database: Pool) {
  return {
    hasOperators: () => hasOperators(database),
    /** Only if there is none: of many gateways that start at once, one makes it. False: it was there. */
    insertFirstOperator: (operator: NewOperator, act: Act) =>
      audited(database, act, (transaction) =>
        insertOperator(transaction, operator, sql`not exists (select from operators)`),
      ),
    /** False when the login is taken. */
    insertOperator: (operator: NewOperator, act: Act) =>
      audited(database, act, (transaction) => insertOperator(transaction, operator)),
    listOperators: () => listOperators(database),
    findOperator: (login: string) => findOperator(database, login),
    /** Ends all access and every lock. False when there is no such operator, or not with this access any more. */
    setPassword: (change: PasswordChange, act: Act) =>
      audited(database, act, (transaction) => setPassword(transaction, change)),
    /** Disabling ends all access, for good. `last_admin`: nobody would be left who may manage operators. */
    setStatus: (change: StatusToSet, act: Act) => setStatus(database, change, act),
    /** False: the access was ended since it was proven. */
    insertSession: (session: Session & Access, act: Act) =>
      audited(database, act, (transaction) => insertSession(transaction, session)),
    findSession: (sought: SoughtSession) => findSession(database, sought),
    touchSession: (tokenHash: Buffer, nowMs: number) =>
      database.query(sql`
update operator_sessions set last_seen_at = greatest(last_seen_at, ${nowMs}) where token_hash = ${tokenHash}`),
    listSessions: (login: string, nowMs: number) => listSessions(database, login, nowMs),
    deleteSession: (tokenHash: Buffer) =>
      database.query(sql`delete from operator_sessions where token_hash = ${tokenHash}`),
    /** Sessions end, tokens of the admin API are revoked. */
    endAccess: (login: string, act: Act) =>
      audited(database, act, (transaction) => endAccess(transaction, { login, nowMs: act.actedAtMs })),
    /** Those that are over; how many. */
    deleteEndedSessions: (nowMs: number) => deleteEndedSessions(database, nowMs),
  }
}

/** Of `operators o`. */
export const operatorShape = rowShape<Operator>('operator', {
  login: 'o.login',
  role: 'o.role',
  status: 'o.status',
  email: 'o.email',
  passwordChangedAtMs: number('o.password_changed_at'),
  tries: number('o.tries'),
  lockedUntilMs: number('o.locked_until'),
  createdAtMs: number('o.created_at'),
  hasSecondStep:
    'exists (select from operator_totp t where t.login = o.login and t.confirmed_at is not null)',
  accessVersion: number('o.access_version'),
})

async function hasOperators(database: Queryable): Promise<boolean> {
  const { rows } = await database.query('select from operators limit 1')
  return rows.length > 0
}

/** Two at the same moment use the same login, and its key decides. */
async function insertOperator(
  database: Queryable,
  { login, role, sealedPassword, email, createdAtMs }: NewOperator,
  condition = sql`true`,
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
insert into operators (login, role, status, sealed_password, email, password_changed_at, created_at)
select ${login}, ${role}, 'active', ${sealedPassword}, ${email}, ${createdAtMs}, ${createdAtMs}
 where ${condition}
    on conflict do nothing`)
  return rowCount === 1
}

async function listOperators(database: Queryable): Promise<Operator[]> {
  const { rows } = await database.query(sql`select ${operatorShape.columns} from operators o order by login`)
  return rows.map(operatorShape.read)
}

async function findOperator(database: Queryable, login: string): Promise<Operator | undefined> {
  const { rows } = await database.query(sql`
select ${operatorShape.columns} from operators o where login = ${login}`)
  return rows[0] && operatorShape.read(rows[0])
}

interface PasswordChange {
  readonly login: string
  readonly sealedPassword: Buffer
  readonly nowMs: number
  /** By which the change was proven. Undefined: somebody else gives the password, whatever happened meanwhile. */
  readonly accessVersion?: number
}

async function setPassword(
  transaction: Queryable,
  { login, sealedPassword, nowMs, accessVersion }: PasswordChange,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update operators
   set sealed_password = ${sealedPassword}, password_hash = null, password_changed_at = ${nowMs}, tries = 0,
       locked_until = null
 where login = ${login} and email is null and (${accessVersion}::integer is null or access_version = ${accessVersion})`)
  return rowCount === 1 && endAccess(transaction, { login, nowMs })
}

/** Nobody ends the access until the transaction is over. Throws where it was ended since it was proven. */
export async function holdAccess(transaction: Queryable, access: Access): Promise<void> {
  if (!(await hasAccess(transaction, access))) throw accessEnded(access.login)
}

async function hasAccess(transaction: Queryable, { login, accessVersion }: Access): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
select from operators
 where login = ${login} and access_version = ${accessVersion} and status = 'active' for no key update`)
  return rowCount === 1
}

/** Ends whatever acts in the operator's name without asking for the password, and what is being proven just now. */
export async function endAccess(
  transaction: Queryable,
  { login, nowMs }: { login: string; nowMs: number },
): Promise<true> {
  await transaction.query(
    sql`update operators set access_version = access_version + 1 where login = ${login}`,
  )
  await transaction.query(sql`delete from operator_sessions where login = ${login}`)
  await transaction.query(sql`
update api_tokens set revoked_at = ${nowMs} where login = ${login} and revoked_at is null`)
  return true
}

interface StatusToSet {
  readonly login: string
  readonly status: Operator['status']
}

async function setStatus(
  database: Pool,
  { login, status }: StatusToSet,
  act: Act,
): Promise<'set' | 'missing' | 'last_admin'> {
  let outcome: 'set' | 'missing' | 'last_admin' = 'set'
  await audited(database, act, async (transaction) => {
    // Locked, so that two admins who disable each other do not both succeed.
    const { rows: admins } = await transaction.query<{ login: string }>(
      "select login from operators where role = 'admin' and status = 'active' order by login for update",
    )
    if (status === 'disabled' && admins.length === 1 && admins[0]?.login === login) outcome = 'last_admin'
    else {
      const { rowCount } = await transaction.query(sql`
update operators set status = ${status} where login = ${login}`)
      if (rowCount === 0) outcome = 'missing'
      else if (status === 'disabled') await endAccess(transaction, { login, nowMs: act.actedAtMs })
    }
    return outcome === 'set'
  })
  return outcome
}

const sessionShape = rowShape<Session>('session', {
  tokenHash: 's.token_hash',
  login: 's.login',
  address: 's.address',
  createdAtMs: number('s.created_at'),
  lastSeenAtMs: number('s.last_seen_at'),
  endsAtMs: number('s.ends_at'),
})

async function insertSession(transaction: Queryable, session: Session & Access): Promise<boolean> {
  if (!(await hasAccess(transaction, session))) return false
  const { tokenHash, login, address, createdAtMs, lastSeenAtMs, endsAtMs } = session
  // The moment for what is over already: a session begins rarely, and the table stays small.
  await deleteEndedSessions(transaction, createdAtMs)
  await transaction.query(sql`
insert into operator_sessions (token_hash, login, address, created_at, last_seen_at, ends_at)
values (${tokenHash}, ${login}, ${address}, ${createdAtMs}, ${lastSeenAtMs}, ${endsAtMs})`)
  return true
}

interface SoughtSession {
  readonly tokenHash: Buffer
  readonly nowMs: number
  /** One that was not seen since is over. */
  readonly seenSinceMs: number
}

async function findSession(
  database: Queryable,
  { tokenHash, nowMs, seenSinceMs }: SoughtSession,
): Promise<{ session: Session; operator: Operator } | undefined> {
  const { rows } = await database.query(prepared('find-operator-session')`
select ${sessionShape.columns}, ${operatorShape.columns}
  from operator_sessions s join operators o on o.login = s.login
 where s.token_hash = ${tokenHash} and s.ends_at > ${nowMs} and s.last_seen_at > ${seenSinceMs}
   and o.status = 'active'`)
  return rows[0] && { session: sessionShape.read(rows[0]), operator: operatorShape.read(rows[0]) }
}

async function listSessions(database: Queryable, login: string, nowMs: number): Promise<Session[]> {
  const { rows } = await database.query(sql`
select ${sessionShape.columns}
  from operator_sessions s
 where login = ${login} and ends_at > ${nowMs}
 order by created_at desc`)
  return rows.map(sessionShape.read)
}

async function deleteEndedSessions(database: Queryable, nowMs: number): Promise<number> {
  return (await database.query(sql`delete from operator_sessions where ends_at <= ${nowMs}`)).rowCount
}
