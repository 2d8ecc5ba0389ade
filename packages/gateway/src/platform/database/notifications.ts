// Short messages between all processes on one database, over LISTEN and NOTIFY: hints that save waiting, and never
// more than that. They need a session of their own, which a transaction pooler does not give; whoever hears
// nothing finds everything by looking, as before.
import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type ConnectionOptions, serversOf } from './connection.ts'
import type { Queryable } from './pool.ts'
import { ServerChoice } from './server-list.ts'

export interface Notifications {
  /** Everybody else hears it, or not. Never rejects. */
  send(text: string): Promise<void>
  isListening(): boolean
  stop(): Promise<void>
}

export interface NotificationParts {
  readonly connection: ConnectionOptions
  /** What is sent goes this way: a session that listens is not needed for it. */
  readonly database: Queryable
  readonly onMessage: (text: string) => void
  /** Once for each time that it comes to this. */
  readonly onDeaf: (reason: string) => void
  /** How long our own message may take to come back before we count as deaf. */
  readonly heardWithinMs?: number
}

const channel = 'tillgate'
/** A database under load is slow, not silent. */
const heardWithinDefaultMs = 15_000
/** A server that answers nothing must not hold up the next one, nor a stop. */
const connectTimeoutMs = 5_000
/** Nothing may be said for hours, so only probes tell that the other side is gone without a word. */
const probeAfterMs = 30_000
/** A goodbye that nobody answers is not waited for. */
const goodbyeMs = 1_000
const again = { firstMs: 200, mostMs: 10_000, deafMs: 60_000, deafMostMs: 3_600_000 } as const

interface State extends NotificationParts {
  readonly heardWithinMs: number
  /** Our own messages come back to us; what is in them was done here already. */
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
    // Nobody waits for the disk because of a hint.
    await state.database.query({
      name: 'send-notification',
      text: `select set_config('synchronous_commit', 'off', true), pg_notify('${channel}', $1)`,
      values: [`${state.sender} ${text}`],
    })
  } catch {
    // The database is away, and so is whatever the hint was about.
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
    // By the other way, as everything that is to be heard will come.
    await send(state, echo)
    const silence = wait(state, state.heardWithinMs).then(() => 'silence' as const)
    const first = await Promise.race([ready.promise, over.promise, silence])
    if (first === 'silence') return { kind: 'deaf', reason: `nothing was heard in ${state.heardWithinMs} ms` }
    state.listening = client
    await over.promise
    return { kind: 'lost', wasHeard: true }
  } catch {
    // It is away, or a standby, where nobody may listen.
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
