// Short messages between all processes of one database, over LISTEN and NOTIFY. They only save waiting: a transaction
// pooler provides no session for LISTEN, and polling finds everything without them.
import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type ConnectionOptions, serversOf } from './connection.ts'
import type { Queryable } from './pool.ts'
import { ServerChoice } from './server-list.ts'

export interface Notifications {
  /** Delivery is not guaranteed. Never rejects. */
  send(text: string): Promise<void>
  isListening(): boolean
  stop(): Promise<void>
}

export interface NotificationParts {
  readonly connection: ConnectionOptions
  readonly database: Queryable
  readonly onMessage: (text: string) => void
  /** Called once per outage. */
  readonly onDeaf: (reason: string) => void
  /** How long our own message may take to return before the listener counts as disconnected. */
  readonly heardWithinMs?: number
}

const channel = 'tillgate'
/** A busy database is slow, not disconnected. */
const heardWithinDefaultMs = 15_000
const connectTimeoutMs = 5_000
/** Long silence is normal, so only probes detect a lost connection. */
const probeAfterMs = 30_000
const goodbyeMs = 1_000
const again = { firstMs: 200, mostMs: 10_000, deafMs: 60_000, deafMostMs: 3_600_000 } as const

interface State extends NotificationParts {
  readonly heardWithinMs: number
  /** Our own messages return to us. Their content was already handled here. */
  readonly sender: string
  readonly stopping: AbortController
  readonly servers: ServerChoice<ReturnType<typeof serversOf>[number]>
  listening: pg.Client | undefined
}

type Ended = { kind: 'lost'; wasHeard: boolean } | { kind: 'deaf'; reason: string }

export function openNotifications(parts: NotificationParts): Notifications {
  const state: State = {
    ...parts,
    heardWithinMs: parts.heardWithinMs ?? heardWithinDefaultMs,
    sender: randomUUID(),
    stopping: new AbortController(),
    servers: new ServerChoice(serversOf(parts.connection)),
    listening: undefined,
  }
  const running = run(state)
  return {
    send: (text) => send(state, text),
    isListening: () => state.listening !== undefined,
    async stop() {
      state.stopping.abort()
      await running
    },
  }
}

async function send(state: State, text: string): Promise<void> {
  if (state.stopping.signal.aborted) return
  try {
    // A hint does not have to be durable.
    await state.database.query({
      name: 'send-notification',
      text: `select set_config('synchronous_commit', 'off', true), pg_notify('${channel}', $1)`,
      values: [`${state.sender} ${text}`],
    })
  } catch {
    // If the database is away, so is whatever the message was about.
  }
}

async function run(state: State): Promise<void> {
  let failures = 0
  let deafTimes = 0
  while (!state.stopping.signal.aborted) {
    const ended = await listenOnce(state)
    if (state.stopping.signal.aborted) return
    if (ended.kind === 'deaf') {
      state.onDeaf(ended.reason)
      failures = 0
      await wait(state, Math.min(again.deafMs * 2 ** deafTimes++, again.deafMostMs))
    } else {
      if (ended.wasHeard) failures = 0
      await wait(state, Math.min(again.firstMs * 2 ** failures++, again.mostMs))
    }
  }
}

async function listenOnce(state: State): Promise<Ended> {
  const server = state.servers.current
  const socket = new Socket()
  const client = new pg.Client({
    ...server,
    stream: () => socket,
    application_name: 'tillgate hints',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: probeAfterMs,
  })
  const over = Promise.withResolvers<void>()
  const ready = Promise.withResolvers<void>()
  const echo = `echo ${randomUUID()}`
  client.on('error', () => over.resolve())
  client.on('end', () => over.resolve())
  client.on('notification', ({ payload = '' }) => {
    if (payload === `${state.sender} ${echo}`) return ready.resolve()
    const space = payload.indexOf(' ')
    const isOthers = payload.slice(0, space) !== state.sender && !payload.startsWith('echo ', space + 1)
    if (isOthers) state.onMessage(payload.slice(space + 1))
  })
  const onStop = () => over.resolve()
  state.stopping.signal.addEventListener('abort', onStop, { once: true })
  try {
    const isOpen = await Promise.race([open(client).then(() => true), over.promise])
    if (!isOpen) throw new Error('it was over before it began')
    // The probe takes the same path as real messages.
    await send(state, echo)
    const silence = wait(state, state.heardWithinMs).then(() => 'silence' as const)
    const first = await Promise.race([ready.promise, over.promise, silence])
    if (first === 'silence') return { kind: 'deaf', reason: `nothing was heard in ${state.heardWithinMs} ms` }
    state.listening = client
    await over.promise
    return { kind: 'lost', wasHeard: true }
  } catch {
    // A standby does not allow LISTEN.
    state.servers.leave(server)
    return { kind: 'lost', wasHeard: false }
  } finally {
    state.listening = undefined
    state.stopping.signal.removeEventListener('abort', onStop)
    await Promise.race([client.end().catch(() => {}), pause(goodbyeMs, undefined, { ref: false })])
    socket.destroy()
  }
}

function wait(state: State, durationMs: number) {
  return pause(durationMs, undefined, { signal: state.stopping.signal, ref: false }).catch(() => {})
}

async function open(client: pg.Client): Promise<void> {
  await client.connect()
  await client.query(`listen ${channel}`)
}
