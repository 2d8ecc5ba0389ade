// Operators and their sessions.
import type { Pool, Queryable } from '../../database/pool.ts'
import type { Act } from '../rules/audit.ts'
import { type Access, accessEnded, type NewOperator, type Operator, type Role } from '../rules/operator.ts'
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
      audited(database, act, (transaction) => insertFirstOperator(transaction, operator)),
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
    touchSession: (tokenHash: Buffer, nowMs: number) => touchSession(database, tokenHash, nowMs),
    listSessions: (login: string, nowMs: number) => listSessions(database, login, nowMs),
    deleteSession: (tokenHash: Buffer) => deleteSession(database, tokenHash),
    /** Sessions end, tokens of the admin API are revoked. */
    endAccess: (login: string, act: Act) =>
      audited(database, act, (transaction) => endAccess(transaction, { login, nowMs: act.actedAtMs })),
    /** Those that are over; how many. */
    deleteEndedSessions: (nowMs: number) => deleteEndedSessions(database, nowMs),
  }
}

export interface OperatorRow {
  login: string
  role: Role
  status: Operator['status']
  password_changed_at: string
  tries: number
  locked_until: string | null
  created_at: string
  has_second_step: boolean
  access_version: number
}

export const operatorColumns = (
  operators: string,
) => `${operators}.login, ${operators}.role, ${operators}.status,
       ${operators}.password_changed_at, ${operators}.tries, ${operators}.locked_until, ${operators}.created_at,
       ${operators}.access_version,
       exists (select from operator_totp t
                where t.login = ${operators}.login and t.confirmed_at is not null) as has_second_step`
const columns = operatorColumns('operators')

async function hasOperators(database: Queryable): Promise<boolean> {
  const { rows } = await database.query('select from operators limit 1')
  return rows.length > 0
}

/** Two at the same moment use the same login, and its key decides. */
async function insertFirstOperator(database: Queryable, operator: NewOperator): Promise<boolean> {
  const { rowCount } = await database.query({
    text: `
insert into operators (login, role, status, sealed_password, password_changed_at, created_at)
select $1, $2, 'active', $3, $4, $4
 where not exists (select from operators)
    on conflict do nothing`,
    values: [operator.login, operator.role, operator.sealedPassword, operator.createdAtMs],
  })
  return rowCount === 1
}

async function insertOperator(database: Queryable, operator: NewOperator): Promise<boolean> {
  const { rowCount } = await database.query({
    text: `
insert into operators (login, role, status, sealed_password, password_changed_at, created_at)
values ($1, $2, 'active', $3, $4, $4)
    on conflict do nothing`,
    values: [operator.login, operator.role, operator.sealedPassword, operator.createdAtMs],
  })
  return rowCount === 1
}

async function listOperators(database: Queryable): Promise<Operator[]> {
  const { rows } = await database.query<OperatorRow>(`select ${columns} from operators order by login`)
  return rows.map(toOperator)
}

async function findOperator(database: Queryable, login: string): Promise<Operator | undefined> {
  const { rows } = await database.query<OperatorRow>({
    text: `select ${columns} from operators where login = $1`,
    values: [login],
  })
  return rows[0] && toOperator(rows[0])
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
  const { rowCount } = await transaction.query({
    text: `
update operators
   set sealed_password = $2, password_hash = null, password_changed_at = $3, tries = 0, locked_until = null
 where login = $1 and ($4::integer is null or access_version = $4)`,
    values: [login, sealedPassword, nowMs, accessVersion ?? null],
  })
  return rowCount === 1 && endAccess(transaction, { login, nowMs })
}

/** Nobody ends the access until the transaction is over. Throws where it was ended since it was proven. */
export async function holdAccess(transaction: Queryable, access: Access): Promise<void> {
  if (!(await hasAccess(transaction, access))) throw accessEnded(access.login)
}

async function hasAccess(transaction: Queryable, { login, accessVersion }: Access): Promise<boolean> {
  const { rowCount } = await transaction.query({
    text: `
select from operators
 where login = $1 and access_version = $2 and status = 'active' for no key update`,
    values: [login, accessVersion],
  })
  return rowCount === 1
}

/** Ends whatever acts in the operator's name without asking for the password, and what is being proven just now. */
export async function endAccess(
  transaction: Queryable,
  { login, nowMs }: { login: string; nowMs: number },
): Promise<true> {
  await transaction.query({
    text: 'update operators set access_version = access_version + 1 where login = $1',
    values: [login],
  })
  await transaction.query({ text: 'delete from operator_sessions where login = $1', values: [login] })
  await transaction.query({
    text: 'update api_tokens set revoked_at = $2 where login = $1 and revoked_at is null',
    values: [login, nowMs],
  })
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
      const { rowCount } = await transaction.query({
        text: 'update operators set status = $2 where login = $1',
        values: [login, status],
      })
      if (rowCount === 0) outcome = 'missing'
      else if (status === 'disabled') await endAccess(transaction, { login, nowMs: act.actedAtMs })
    }
    return outcome === 'set'
  })
  return outcome
}

async function insertSession(transaction: Queryable, session: Session & Access): Promise<boolean> {
  if (!(await hasAccess(transaction, session))) return false
  // The moment for what is over already: a session begins rarely, and the table stays small.
  await deleteEndedSessions(transaction, session.createdAtMs)
  await transaction.query({
    text: `
insert into operator_sessions (token_hash, login, address, created_at, last_seen_at, ends_at)
values ($1, $2, $3, $4, $5, $6)`,
    values: [
      session.tokenHash,
      session.login,
      session.address,
      session.createdAtMs,
      session.lastSeenAtMs,
      session.endsAtMs,
    ],
  })
  return true
}

interface SoughtSession {
  readonly tokenHash: Buffer
  readonly nowMs: number
  /** One that was not seen since is over. */
  readonly seenSinceMs: number
}

interface SessionRow {
  token_hash: Buffer
  login: string
  address: string
  session_created_at: string
  last_seen_at: string
  ends_at: string
}

async function findSession(
  database: Queryable,
  { tokenHash, nowMs, seenSinceMs }: SoughtSession,
): Promise<{ session: Session; operator: Operator } | undefined> {
  const { rows } = await database.query<OperatorRow & SessionRow>({
    name: 'find-operator-session',
    text: `
select s.token_hash, s.address, s.created_at as session_created_at, s.last_seen_at, s.ends_at,
       ${operatorColumns('o')}
  from operator_sessions s join operators o on o.login = s.login
 where s.token_hash = $1 and s.ends_at > $2 and s.last_seen_at > $3 and o.status = 'active'`,
    values: [tokenHash, nowMs, seenSinceMs],
  })
  const row = rows[0]
  return row && { session: toSession(row), operator: toOperator(row) }
}

async function touchSession(database: Queryable, tokenHash: Buffer, nowMs: number): Promise<void> {
  await database.query({
    text: 'update operator_sessions set last_seen_at = greatest(last_seen_at, $2) where token_hash = $1',
    values: [tokenHash, nowMs],
  })
}

async function listSessions(database: Queryable, login: string, nowMs: number): Promise<Session[]> {
  const { rows } = await database.query<SessionRow>({
    text: `
select token_hash, login, address, created_at as session_created_at, last_seen_at, ends_at
  from operator_sessions
 where login = $1 and ends_at > $2
 order by created_at desc`,
    values: [login, nowMs],
  })
  return rows.map(toSession)
}

async function deleteSession(database: Queryable, tokenHash: Buffer): Promise<void> {
  await database.query({ text: 'delete from operator_sessions where token_hash = $1', values: [tokenHash] })
}

async function deleteEndedSessions(database: Queryable, nowMs: number): Promise<number> {
  const { rowCount } = await database.query({
    text: 'delete from operator_sessions where ends_at <= $1',
    values: [nowMs],
  })
  return rowCount
}

export function toOperator(row: OperatorRow): Operator {
  return {
    login: row.login,
    role: row.role,
    status: row.status,
    passwordChangedAtMs: Number(row.password_changed_at),
    tries: row.tries,
    lockedUntilMs: row.locked_until === null ? undefined : Number(row.locked_until),
    createdAtMs: Number(row.created_at),
    hasSecondStep: row.has_second_step,
    accessVersion: row.access_version,
  }
}

function toSession(row: SessionRow): Session {
  return {
    tokenHash: row.token_hash,
    login: row.login,
    address: row.address,
    createdAtMs: Number(row.session_created_at),
    lastSeenAtMs: Number(row.last_seen_at),
    endsAtMs: Number(row.ends_at),
  }
}
