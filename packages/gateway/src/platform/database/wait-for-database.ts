// Waits at startup for a database that is away, and fails at once with a remedy where waiting cannot help. No message
// contains the password.
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { codeOf, messageOf } from '../runtime/errors.ts'
import { exitCodes, StartFailure } from '../runtime/start-failure.ts'
import { type ConnectionOptions, describeConnection, serversOf } from './connection.ts'
import { isTransient } from './transient.ts'

export const oldestMajorVersion = 15
const pauseFirstMs = 250
const pauseMaxMs = 10_000
const connectTimeoutMs = 5_000

export interface DatabaseAway {
  readonly kind: 'database_away'
  readonly address: string
  readonly reason: string
  readonly retryInMs: number
  readonly isReported: boolean
}

export interface Waiting {
  readonly signal?: AbortSignal
  readonly report?: (event: DatabaseAway) => void
}

export function waitForDatabase(
  connection: ConnectionOptions,
  waiting: Waiting = {},
): Promise<{ readonly majorVersion: number }> {
  return untilDone(connection, waiting, async () => {
    const reasons: string[] = []
    for (const server of serversOf(connection)) {
      const answer = await ask(server, describeConnection(server))
      if (answer.kind === 'up') return { kind: 'done', result: answer }
      reasons.push(answer.reason)
    }
    return { kind: 'away', reason: reasons.join('; ') }
  })
}

export function insist<Result>(
  connection: ConnectionOptions,
  waiting: Waiting,
  begin: () => Promise<Result>,
): Promise<Result> {
  return untilDone(connection, waiting, async () => {
    try {
      return { kind: 'done', result: await begin() }
    } catch (error) {
      if (isTransient(error)) return { kind: 'away', reason: messageOf(error) }
      throw error
    }
  })
}

type Tried<Result> = { readonly kind: 'done'; readonly result: Result } | Away

async function untilDone<Result>(
  connection: ConnectionOptions,
  { signal, report = () => {} }: Waiting,
  attempt: () => Promise<Tried<Result>>,
): Promise<Result> {
  const address = describeConnection(connection)
  let reportedReason: string | undefined
  for (let retryInMs = pauseFirstMs; ; retryInMs = Math.min(retryInMs * 2, pauseMaxMs)) {
    signal?.throwIfAborted()
    const tried = await attempt()
    if (tried.kind === 'done') return tried.result
    const { reason } = tried
    report({ kind: 'database_away', address, reason, retryInMs, isReported: reason === reportedReason })
    reportedReason = reason
    await pause(retryInMs, undefined, signal ? { signal } : {})
  }
}

interface Away {
  readonly kind: 'away'
  readonly reason: string
}

type Answer = { readonly kind: 'up'; readonly majorVersion: number } | Away

async function ask(connection: ConnectionOptions, address: string): Promise<Answer> {
  const client = new pg.Client({
    ...connection,
    application_name: 'tillgate',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: connectTimeoutMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ version: number; isStandby: boolean }>(
      `select current_setting('server_version_num')::integer as version,
              pg_is_in_recovery()                            as "isStandby"`,
    )
    const { version = 0, isStandby = false } = rows[0] ?? {}
    const majorVersion = Math.floor(version / 10_000)
    if (majorVersion < oldestMajorVersion) {
      throw final(
        `The database at ${address} is PostgreSQL ${majorVersion}; Tillgate needs ${oldestMajorVersion} or newer.\nUpgrade it, or set DATABASE_URL to another.`,
      )
    }
    if (isStandby) return { kind: 'away', reason: 'it is a standby, which takes no writes' }
    return { kind: 'up', majorVersion }
  } catch (error) {
    if (error instanceof StartFailure) throw error
    const refusal = whyFinal(error, address)
    if (refusal !== undefined) throw final(refusal)
    if (isTransient(error)) return { kind: 'away', reason: messageOf(error) }
    throw final(`The database at ${address} cannot be used: ${messageOf(error)}.\nCheck DATABASE_URL.`)
  } finally {
    await client.end().catch(() => {})
  }
}

function whyFinal(error: unknown, address: string): string | undefined {
  const code = codeOf(error) ?? ''
  const message = messageOf(error)
  if (code === '28P01' || /^SASL: .*password/.test(message)) {
    return `The database at ${address} refused the password.\nSet the right user and password in DATABASE_URL (special characters percent-encoded).`
  }
  if (code === '28000') {
    return `The database at ${address} does not let this user in: ${message}.\nCheck the user in DATABASE_URL, and the server's pg_hba.conf.`
  }
  if (code === '3D000') {
    return `The server at ${address} has no such database.\nCreate it (create database …), or change the name at the end of DATABASE_URL.`
  }
  if (code === '42501') {
    return `The database at ${address} denies access: ${message}.\nGrant the user of DATABASE_URL the right to connect.`
  }
  if (/does not support SSL/.test(message)) {
    return `The database at ${address} does not speak TLS.\nTurn TLS on there, or put sslmode=disable into DATABASE_URL if the way to it is safe.`
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO/.test(code)) {
    return `The certificate of the database at ${address} was not accepted: ${message}.\nName its CA with sslrootcert=/path/ca.pem in DATABASE_URL.`
  }
  return undefined
}

function final(message: string): StartFailure {
  return new StartFailure(message, { exitCode: exitCodes.settings })
}
