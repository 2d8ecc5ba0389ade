// Runs all statements: a thin layer over pg's pool that bounds every wait, survives lost connections, and never
// reuses a connection whose state is unknown.
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
  /** Commits all of `work` or nothing. Throws CommitUnknown if the response to COMMIT was lost. */
  transaction<Result>(
    work: (client: Queryable) => Promise<Result>,
    options?: { readonly statementTimeoutMs?: number },
  ): Promise<Result>
  /** Waits for running statements, then closes all connections. */
  close(): Promise<void>
  counts(): { readonly total: number; readonly idle: number; readonly waiting: number }
}

export interface PoolOptions {
  readonly max?: number
  readonly applicationName?: string
  readonly connectTimeoutMs?: number
  /** Further callers are rejected at once with PoolBusy. */
  readonly maxWaiting?: number
  /** 0 means no limit. */
  readonly statementTimeoutMs?: number
  /** False behind a pooler that does not keep prepared statements. */
  readonly isPreparing?: boolean
  /** Called once, when a pooler turns out not to keep prepared statements. */
  readonly onNotPrepared?: () => void
  /** An idle connection was lost. No statement fails because of it. */
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

/** How much longer than the server the client waits, in case the network loses a response. */
const answerMarginMs = 2_000
const idleTimeoutMs = 30_000
/** How long a full server is not asked for another connection. */
const makeDoForMs = 5_000
const askAgainMs = 50

/** Publishes every statement, for tests. */
export const statementChannel = channel('tillgate:statement')

export function openPool(connection: ConnectionOptions, options: PoolOptions = {}): Pool {
  const limits = { ...poolDefaults, ...options }
  const servers = new ServerChoice(serversOf(connection))
  const names = new PreparedNames({ isUsed: limits.isPreparing, onGivenUp: options.onNotPrepared })
  const pool = new pg.Pool({
    // A class, because the pool creates clients on demand and the primary may have changed by then.
    Client: class extends pg.Client {
      // The pool passes its options, which the types do not declare.
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
  // Without this listener, the death of a client between two statements would end the process. It is added on
  // connect, because an error may arrive in the same packet.
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

  /** If the server has no free place, one of our own connections will soon be free. */
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

  /** Uses the existing connections for a while, because asking again would only burden the server. */
  function makeDo(): void {
    pool.options.max = pool.totalCount
    clearTimeout(madeDo)
    madeDo = setTimeout(() => {
      pool.options.max = limits.max
    }, makeDoForMs).unref()
  }

  /** Finds the primary. Nothing has been sent yet, so trying each server is safe. */
  async function connectToPrimary(): Promise<pg.PoolClient> {
    for (let left = servers.count; ; left--) {
      const tried = servers.current
      try {
        return await pool.connect()
      } catch (error) {
        // A full pool says nothing about the server.
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
        // The prepared statement was missing, so nothing ran. Now the statement is sent in full.
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
      // PostgreSQL continues after a statement error; after anything else the session's state is unknown. A read-only
      // server is also left, so that the next connection finds the primary.
      if (!isStatementError(error) || hasCode(error, readOnly)) this.isBroken = true
      this.#names.giveUpAfter(error)
      // The error was created in the socket's handler; this stack shows the caller.
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
  // Limits are set per transaction, because behind a transaction pooler a session is shared. In one message with
  // BEGIN they have no measurable cost.
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
    // A failed rollback marks the session as broken. The first error is the informative one.
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
  // PostgreSQL responds to COMMIT with ROLLBACK if an earlier statement failed and its error was ignored.
  if (command !== 'COMMIT') {
    throw new Error('the transaction was rolled back: a failed statement in it was ignored')
  }
}

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
