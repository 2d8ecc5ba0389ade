// The one way statements reach PostgreSQL: a thin layer over pg's pool that bounds every wait, survives the
// death of any connection, and never hands on one whose state is not known.
import { channel } from 'node:diagnostics_channel'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { codeOf } from '../runtime/errors.ts'
import { queryByCallback } from '../runtime/node-workarounds/query-by-callback.ts'
import { type ConnectionOptions, serversOf } from './connection.ts'
import { PreparedNames, type Statement } from './prepared-names.ts'
import { ServerChoice } from './server-list.ts'
import {
  CommitUnknown,
  isNotPrepared,
  isStatementError,
  isTransient,
  PoolBusy,
  readOnly,
  tooManyConnections,
} from './transient.ts'

export interface Rows<Row> {
  readonly rows: Row[]
  readonly rowCount: number
}

export interface Queryable {
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    statement: string | Statement,
    values?: readonly unknown[],
  ): Promise<Rows<Row>>
}

export interface Pool extends Queryable {
  /** Commits what `work` did, or nothing of it. A COMMIT whose answer was lost throws CommitUnknown. */
  transaction<Result>(
    work: (client: Queryable) => Promise<Result>,
    options?: { readonly statementTimeoutMs?: number },
  ): Promise<Result>
  /** Waits for what is in flight, then closes all connections. */
  close(): Promise<void>
  counts(): { readonly total: number; readonly idle: number; readonly waiting: number }
}

export interface PoolOptions {
  readonly max?: number
  readonly applicationName?: string
  /** How long a caller waits for a free or new connection. */
  readonly connectTimeoutMs?: number
  /** How many callers may wait; the next is refused at once with PoolBusy. */
  readonly maxWaiting?: number
  /** 0 means without limit. */
  readonly statementTimeoutMs?: number
  /** False: statements are not prepared under names, for a pooler in between does not keep them. */
  readonly isPreparing?: boolean
  /** A pooler in between does not keep prepared statements: from now on none are used. Told once. */
  readonly onNotPrepared?: () => void
  /** An idle connection was lost; nothing else fails because of it. */
  readonly onConnectionLost?: (error: Error) => void
}

export const poolDefaults = {
  max: 10,
  applicationName: 'tillgate',
  connectTimeoutMs: 5_000,
  maxWaiting: 1_000,
  isPreparing: true,
  statementTimeoutMs: 10_000,
} as const

/** How much longer than the server we wait ourselves, for when the network swallows its answer. */
const answerMarginMs = 2_000
const idleTimeoutMs = 30_000
/** How long a server that had no place for another connection is not asked for one. */
const makeDoForMs = 5_000
const askAgainMs = 50

/** Every statement as it is sent, in the call of whoever sends it; nobody listens but tests. */
export const statementChannel = channel('tillgate:statement')

export function openPool(connection: ConnectionOptions, options: PoolOptions = {}): Pool {
  const limits = { ...poolDefaults, ...options }
  const servers = new ServerChoice(serversOf(connection))
  const names = new PreparedNames({ isUsed: limits.isPreparing, onGivenUp: options.onNotPrepared })
  const pool = new pg.Pool({
    // A class, because the pool makes a client of it whenever it needs one, and the server may be another by then.
    Client: class extends pg.Client {
      // It is called with the options of the pool; the types do not say so.
      constructor(config?: pg.ClientConfig) {
        super({ ...config, ...servers.current })
      }
    },
    ...(servers.count > 1 && { verify: refuseStandby }),
    max: limits.max,
    application_name: limits.applicationName,
    connectionTimeoutMillis: limits.connectTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    keepAlive: true,
  })
  pool.on('error', (error) => options.onConnectionLost?.(error))
  // While a client is lent out nobody else listens, and its death between two statements would end the process. From
  // the very first moment on: the news of its death may come in one packet with that of its birth.
  pool.on('connect', (client) => client.on('error', ignore))

  let madeDo: NodeJS.Timeout | undefined

  async function withSession<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    if (pool.waitingCount >= limits.maxWaiting) throw new PoolBusy(limits.maxWaiting)
    const session = new Session(await connect(), names)
    try {
      return await work(session)
    } finally {
      session.release()
    }
  }

  /** Where the server has no place for another, one of those that we have will be free soon. */
  async function connect(): Promise<pg.PoolClient> {
    const deadline = performance.now() + limits.connectTimeoutMs
    for (;;) {
      try {
        return await connectToPrimary()
      } catch (error) {
        const isWorthWaiting = hasCode(error, tooManyConnections) && pool.totalCount > 0
        if (!isWorthWaiting || performance.now() > deadline) throw error
        makeDo()
        await pause(askAgainMs)
      }
    }
  }

  /** With what there is, for a while; asking again and again would only cost the server. */
  function makeDo(): void {
    pool.options.max = pool.totalCount
    clearTimeout(madeDo)
    madeDo = setTimeout(() => {
      pool.options.max = limits.max
    }, makeDoForMs).unref()
  }

  /** From the server that takes writes: nothing was sent yet, so each of them may be tried. */
  async function connectToPrimary(): Promise<pg.PoolClient> {
    for (let left = servers.count; ; left--) {
      const tried = servers.current
      try {
        return await pool.connect()
      } catch (error) {
        // That all connections are lent out says nothing about the server.
        if (servers.count === 1 || !isTransient(error) || isPoolFull(error)) throw error
        servers.leave(tried)
        if (left <= 1) throw error
      }
    }
  }

  return {
    async query<Row extends pg.QueryResultRow>(statement: string | Statement, values?: readonly unknown[]) {
      announce(statement, values)
      const once = () =>
        withSession((session) => limited(session, limits.statementTimeoutMs).query<Row>(statement, values))
      try {
        return await once()
      } catch (error) {
        // Under its name the statement was not found, so nothing happened; now it goes in full.
        if (!isNotPrepared(error)) throw error
        return once()
      }
    },
    transaction: (work, { statementTimeoutMs = limits.statementTimeoutMs } = {}) =>
      withSession((session) => runTransaction(session, { work, statementTimeoutMs })),
    close: () => pool.end(),
    counts: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
  }
}

/** A connection while it is lent out, with the knowledge of whether it may be lent out again. */
class Session {
  readonly #client: pg.PoolClient
  readonly #names: PreparedNames
  isBroken = false

  constructor(client: pg.PoolClient, names: PreparedNames) {
    this.#client = client
    this.#names = names
  }

  release(): void {
    this.#client.release(this.isBroken)
  }

  async run<Row extends pg.QueryResultRow>(
    statement: Statement,
    timeoutMs: number,
  ): Promise<pg.QueryResult<Row>> {
    try {
      const { name, text, values } = this.#names.apply(statement)
      const query = { text, ...(values && { values: [...values] }), ...(name !== undefined && { name }) }
      return await queryByCallback<typeof query, pg.QueryResult<Row>>(this.#client, query, timeoutMs)
    } catch (error) {
      // After an error of a statement PostgreSQL goes on; after anything else nobody knows what is under way.
      // A server that takes no writes any more is left too: the next connection finds the one that does.
      if (!isStatementError(error) || hasCode(error, readOnly)) this.isBroken = true
      this.#names.giveUpAfter(error)
      // The error was made where bytes arrive; who asked is known here.
      if (error instanceof Error) Error.captureStackTrace(error)
      throw error
    }
  }
}

function limited(session: Session, statementTimeoutMs: number): Queryable {
  const timeoutMs = statementTimeoutMs > 0 ? statementTimeoutMs + answerMarginMs : 0
  return {
    async query<Row extends pg.QueryResultRow>(statement: string | Statement, values?: readonly unknown[]) {
      const whole =
        typeof statement === 'string' ? { text: statement, ...(values ? { values } : {}) } : statement
      const { rows, rowCount } = await session.run<Row>(whole, timeoutMs)
      return { rows, rowCount: rowCount ?? 0 }
    },
  }
}

async function runTransaction<Result>(
  session: Session,
  options: { work: (client: Queryable) => Promise<Result>; statementTimeoutMs: number },
): Promise<Result> {
  const { work, statementTimeoutMs } = options
  const client = limited(session, statementTimeoutMs)
  // Limits are set here and not with the session, because behind a transaction pooler a session is not ours.
  // In one message with BEGIN they cost nothing that could be measured.
  await client.query(
    `begin; set local statement_timeout = ${statementTimeoutMs};
     set local idle_in_transaction_session_timeout = ${statementTimeoutMs}`,
  )
  let result: Result
  try {
    result = await work({
      query(statement, values) {
        announce(statement, values)
        return client.query(statement, values)
      },
    })
  } catch (error) {
    // A rollback that fails marks the session as broken; the first error is the one that tells.
    if (!session.isBroken) await client.query('rollback').catch(ignore)
    throw error
  }
  await commit(session, statementTimeoutMs)
  return result
}

function announce(statement: string | Statement, values?: readonly unknown[]): void {
  if (statementChannel.hasSubscribers)
    statementChannel.publish(typeof statement === 'string' ? { text: statement, values } : statement)
}

async function commit(session: Session, statementTimeoutMs: number): Promise<void> {
  if (session.isBroken) throw new Error('the transaction was lost: a failed statement in it was ignored')
  const timeoutMs = statementTimeoutMs > 0 ? statementTimeoutMs + answerMarginMs : 0
  const { command } = await session.run({ text: 'commit' }, timeoutMs).catch((error: unknown) => {
    throw session.isBroken ? new CommitUnknown(error) : error
  })
  // PostgreSQL answers COMMIT with ROLLBACK when a statement before it failed and the failure was swallowed.
  if (command !== 'COMMIT') {
    throw new Error('the transaction was rolled back: a failed statement in it was ignored')
  }
}

/** The driver's pool calls it with every new connection. */
function refuseStandby(client: pg.PoolClient, done: (error?: Error) => void): void {
  client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby').then(
    ({ rows }) => {
      const standby = Object.assign(new Error('it is a standby, which takes no writes'), { code: readOnly })
      done(rows[0]?.standby ? standby : undefined)
    },
    (error: Error) => done(error),
  )
}

function isPoolFull(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('timeout exceeded when trying to connect')
}

function hasCode(error: unknown, code: string): boolean {
  return codeOf(error) === code
}

function ignore(): void {}
