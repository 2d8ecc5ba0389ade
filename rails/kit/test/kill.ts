// Kills the process of a rail with SIGKILL at one of its calls: to the provider, to PostgreSQL or to the gateway, before
// or after the call. The other sides retry, as the gateway and providers do, and in the end nothing may be lost
// or done twice.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { DisputeMessage } from '@tillgate/protocol'
import { freePort } from '../../../packages/gateway/test/support/test-bank.ts'
import type { FakeProvider } from './fake-provider.ts'
import {
  type Gateway,
  openGateway,
  type RailUnderTest,
  type Reply,
  railSecret,
  refundMessage,
  type Start,
  send,
  sendDispute,
  startMessage,
  type TestClock,
} from './world.ts'

const patienceMs = 90_000

interface Cycle {
  readonly given: RailUnderTest
  readonly fake: FakeProvider
  readonly gateway: Gateway
  readonly clock: TestClock
  readonly messagesUrl: string
  readonly process: KilledProcess
}

/** A process that is restarted after it was killed. */
class KilledProcess {
  /** The events so far: starts and ends of calls. */
  events = 0
  killAt: number
  kills = 0
  #child: ChildProcess | undefined
  #output = ''
  /** The output of all its runs, for a failure's message. */
  allOutput = ''
  readonly #start: () => ChildProcess

  constructor(killAt: number, start: () => ChildProcess) {
    this.killAt = killAt
    this.#start = start
  }

  /** True if the process is dead and the call is not forwarded. */
  event(): boolean {
    if (++this.events !== this.killAt) return false
    this.kills += 1
    this.#child?.kill('SIGKILL')
    return true
  }

  async ensureRuns(): Promise<void> {
    if (this.#child && this.#child.exitCode === null && this.#child.signalCode === null) return
    const child = this.#start()
    this.#child = child
    this.#output = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text
        this.allOutput += text
      })
    const deadlineMs = performance.now() + patienceMs
    while (!this.#output.includes('"msg":"ready"') && child.exitCode === null && child.signalCode === null) {
      if (performance.now() > deadlineMs) throw new Error(`the rail did not start:\n${this.#output}`)
      await pause(20)
    }
    if (child.exitCode !== null) throw new Error(`the rail ended by itself:\n${this.#output}`)
    if (child.signalCode !== null) return this.ensureRuns()
  }

  async end(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
  }
}

/** Returns the number of events. Each of them can be the one that kills. */
export async function runKilled(
  given: RailUnderTest,
  databaseUrl: string,
  killAt: number,
): Promise<{ events: number; kills: number }> {
  const clock: TestClock = {
    get nowMs() {
      return Date.now()
    },
    set nowMs(_value) {
      throw new Error('time goes by itself here')
    },
  }
  const fake = await given.openFake(clock)
  const gateway = await openGateway(clock)
  const database = await openDatabaseProxy(databaseUrl, () => killed.event())
  const port = await freePort()
  const schema = `killed_${process.pid}_${killAt}_${Date.now()}`
  const killed = new KilledProcess(killAt, () =>
    spawn(process.execPath, [given.program], {
      env: {
        PATH: process.env['PATH'],
        ...(process.env['NODE_COMPILE_CACHE'] && { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }),
        ...given.environment(fake),
        RAIL_SECRET: railSecret,
        DATABASE_URL: database.url,
        RAIL_PORT: String(port),
        RAIL_SCHEMA: schema,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  fake.intercept = () => (killed.event() ? 'drop' : 'go on')
  gateway.onNotification = () => void killed.event()
  fake.webhookUrl = `http://127.0.0.1:${port}/webhooks`
  const base = `http://127.0.0.1:${port}`
  // The fake retries its webhooks until they are accepted, so the rail must start meanwhile.
  const watch = setInterval(() => void killed.ensureRuns().catch(() => {}), 50)
  try {
    await killed.ensureRuns()
    await story({ given, fake, gateway, clock, messagesUrl: `${base}/messages`, process: killed })
    return { events: killed.events, kills: killed.kills }
  } catch (cause) {
    throw new Error(`killed at event ${killAt}; the rail wrote:\n${killed.allOutput}`, { cause })
  } finally {
    clearInterval(watch)
    await killed.end()
    await fake.close()
    await gateway.close()
    database.close()
  }
}

async function story(cycle: Cycle): Promise<void> {
  const { fake, gateway } = cycle
  const start = startMessage(cycle, { amountMinor: 1000n })
  const { transactionId } = start
  const started = await asGateway(cycle, start, { type: 'payment.status', transactionId })
  assert.equal(started.status, 'pending', started.reason)
  if (started.page !== undefined) await fake.open?.(started.page)
  await fake.consumer(transactionId, 'pays')
  await until('the notification', () =>
    gateway.notifications.some(
      (each) => each.type === 'payment.changed' && each.transactionId === transactionId,
    ),
  )
  const status = await asGateway(cycle, { type: 'payment.status', transactionId })
  assert.equal(status.status, 'approved')
  for (const amountMinor of [300n, 600n]) {
    const refund = refundMessage(start, amountMinor)
    const { refundId } = refund
    const made = await asGateway(cycle, refund, { type: 'refund.status', refundId })
    assert.equal(made.status, 'approved', made.reason)
  }
  assert.equal((await asGateway(cycle, refundMessage(start, 101n))).status, 'declined')
  await disputeStory(cycle, start)
  const payments = fake.payments()
  assert.deepEqual(
    payments.map(({ amount, status }) => [amount, status]),
    [[payments[0]?.amount, 'paid']],
    'one payment at the provider',
  )
  assert.equal(payments[0]?.refunds.length, 2, 'two refunds at the provider')
}

async function disputeStory(
  { fake, gateway, given, messagesUrl, process }: Cycle,
  start: Start,
): Promise<void> {
  const { disputes } = fake
  if (!disputes || !given.disputes) return
  const disputeId = await disputes.open(start.transactionId, 100)
  const common = { version: 1, disputeId, transactionId: start.transactionId }
  const notified = (type: string) => () => gateway.notifications.some((each) => each.type === type)
  const answered = (message: DisputeMessage) =>
    retried(process, async () => sendDispute(messagesUrl, message).catch(() => undefined))
  await until(
    'the notification of the dispute',
    notified(`dispute.${given.disputes.begin === 'open' ? 'opened' : 'lost'}`),
  )
  const { status } = await answered({ type: 'dispute.status', ...common })
  assert.equal(status, given.disputes.begin)
  if (given.disputes.accepts.includes('evidence')) {
    const evidence = { ...common, evidenceId: 'evidence-1', text: 'Delivered.' }
    await answered({ type: 'dispute.evidence', ...evidence, file })
    assert.deepEqual(
      disputes.evidence(disputeId),
      ['Delivered. · %PDF'],
      'evidence reached the provider once',
    )
  }
  await disputes.decide(disputeId, 'won')
  await until('the notification of the end', notified('dispute.won'))
  assert.equal((await answered({ type: 'dispute.status', ...common })).status, 'won')
}

const file = {
  name: 'receipt.pdf',
  contentType: 'application/pdf',
  content: Buffer.from('%PDF').toString('base64'),
} as const

async function retried<Result>(
  process: KilledProcess,
  attempt: () => Promise<Result | undefined>,
): Promise<Result> {
  const deadlineMs = performance.now() + patienceMs
  for (;;) {
    const result = await attempt()
    if (result !== undefined) return result
    if (performance.now() > deadlineMs) throw new Error('the rail still does not answer')
    await process.ensureRuns()
    await pause(100)
  }
}

type Message = Parameters<typeof send>[1]

/** Like the gateway: after a failure, query the status, and start again if the rail does not know the payment. */
async function asGateway(
  { messagesUrl, process }: Cycle,
  message: Message,
  lookUp: Message = message,
): Promise<Reply> {
  const deadlineMs = performance.now() + patienceMs
  let asked = message
  for (;;) {
    const reply = await send(messagesUrl, asked).catch((): Reply => ({ httpStatus: 0 }))
    if (reply.httpStatus === 200 && !(asked === lookUp && reply.status === 'unknown')) return reply
    if (performance.now() > deadlineMs) throw new Error(`the rail still answers ${reply.httpStatus}`)
    asked = reply.httpStatus === 200 ? message : lookUp
    await process.ensureRuns()
    if (reply.httpStatus !== 200) await pause(100)
  }
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + patienceMs
  while (!isSo()) {
    if (performance.now() > deadlineMs) throw new Error(`${what} never came`)
    await pause(20)
  }
}

/** A proxy in front of PostgreSQL: each packet of the rail is an event, before and after it is forwarded. */
async function openDatabaseProxy(databaseUrl: string, event: () => boolean) {
  const url = new URL(databaseUrl)
  const folder = url.searchParams.get('host')
  const upstream = () =>
    folder
      ? connect(`${folder}/.s.PGSQL.${url.port || 5432}`)
      : connect(Number(url.port || 5432), url.hostname)
  const server = createServer((client) => {
    const socket = upstream()
    client.on('data', (packet) => {
      if (event()) return
      socket.write(packet)
      event()
    })
    socket.on('data', (packet) => client.write(packet))
    for (const [one, other] of [
      [client, socket],
      [socket, client],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: the server listens on a port.
  const { port } = server.address() as AddressInfo
  const through = new URL(databaseUrl)
  through.searchParams.delete('host')
  through.hostname = '127.0.0.1'
  through.port = String(port)
  return { url: through.href, close: () => void server.close() }
}
