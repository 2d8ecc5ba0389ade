// A rail in this process between a fake of its provider and a gateway that only listens, with a clock that the test controls.
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type CaptureMessage,
  type DisputeAnswer,
  type DisputeMessage,
  type DisputeReason,
  type DisputeResponse,
  makePaymentId,
  makeRefundId,
  makeTransactionId,
  makeWebhookSecret,
  parseDisputeAnswer,
  parseRailCaptureAnswer,
  parseRailNotification,
  parseRailPaymentAnswer,
  parseRailRefundAnswer,
  type RailMessageOf,
  type RailNotification,
  signWebhook,
  toDecimalText,
  verifyRailResponse,
  verifyWebhook,
} from '@tillgate/protocol'
import { emptyDatabase } from '../../../packages/gateway/test/support/database.ts'
import { urlOf } from '../../../packages/gateway/test/support/server.ts'
import { makeLog } from '../src/log.ts'
import type { Provider } from '../src/provider.ts'
import { openRail, type RunningRail } from '../src/run-rail.ts'
import type { FakeProvider } from './fake-provider.ts'

export const railSecret = makeWebhookSecret((size) => Buffer.alloc(size, 9))

export interface TestClock {
  nowMs: number
}

/** The parts of a rail that the shared tests need. */
export interface RailUnderTest {
  readonly name: string
  readonly openFake: (clock: TestClock) => Promise<FakeProvider>
  /** `railUrl`: the rail's URL, if it is known in advance. */
  readonly makeProvider: (fake: FakeProvider, now: () => number, railUrl?: string) => Provider
  /** The provider's page is a signed URL that is created without a request. */
  readonly startsWithoutCall?: boolean
  /** Its `main.ts` and its settings, for tests that kill the process. */
  readonly program: string
  readonly environment: (fake: FakeProvider) => Record<string, string>
  /** Secrets that must not appear in log lines. */
  readonly secrets: readonly string[]
  /** A currency that the provider supports, with two decimals. */
  readonly currency: string
  /** An amount below the provider's minimum in that currency. */
  readonly tooLittleMinor: bigint | undefined
  /** Expected amounts: the text sent to the provider, or the reason of the decline. */
  readonly amounts: readonly (readonly [currency: string, amountMinor: bigint, expected: string | RegExp])[]
  /** Expected languages at the provider. */
  readonly locales: readonly (readonly [locale: string, expected: string])[]
  /** Webhooks that the rail must reject. Empty if the provider signs nothing. */
  readonly rejectedWebhooks: readonly { readonly forged?: boolean; readonly ageMs?: number }[]
  /** For rails that pass disputes on: how they begin, and what the provider takes from the merchant. */
  readonly disputes?: {
    readonly begin: 'open' | 'lost'
    readonly accepts: readonly DisputeResponse[]
    readonly reason: DisputeReason
    /** Only webhooks report the state, so no call can fail. */
    readonly areListedWithoutCall?: boolean
    /** The provider's settlement reports do not list the money that it gives back. */
    readonly hidesReversals?: boolean
  }
  /** For `tillgate rail check`: currencies that the provider supports without exceptions. */
  readonly checkCurrencies: readonly string[]
}

export interface Gateway {
  readonly notifyUrl: string
  readonly notifications: RailNotification[]
  isDown: boolean
  /** Called before a notification is accepted. */
  onNotification: () => void
  close(): Promise<void>
}

export interface World {
  readonly given: RailUnderTest
  readonly fake: FakeProvider
  readonly rail: RunningRail
  readonly clock: TestClock
  readonly gateway: Gateway
  readonly log: string[]
  /** A second process of the same rail. */
  readonly openAnother: () => Promise<RunningRail>
  readonly close: () => Promise<void>
}

/** For all worlds of a test file, each with its own schema. Call it at the top of the file. */
export async function railDatabaseUrl(): Promise<string> {
  const { connection } = await emptyDatabase()
  return urlOf(connection)
}

let worlds = 0

export async function openWorld(
  given: RailUnderTest,
  databaseUrl: string,
  plant: (provider: Provider) => Provider = (provider) => provider,
): Promise<World> {
  const clock: TestClock = { nowMs: Date.now() }
  const fake = await given.openFake(clock)
  const gateway = await openGateway(clock)
  const log: string[] = []
  const schema = `${given.name}_${process.pid}_${++worlds}`
  const open = () =>
    openRail({
      schema,
      provider: plant(given.makeProvider(fake, () => clock.nowMs)),
      databaseUrl,
      secrets: [railSecret],
      host: '127.0.0.1',
      port: 0,
      now: () => clock.nowMs,
      log: makeLog({ write: (line) => log.push(line), now: () => clock.nowMs, secrets: given.secrets }),
      everyMs: 0,
    })
  const rails = [await open()]
  const [rail] = rails
  if (!rail) throw new Error('there is a rail')
  fake.webhookUrl = `${rail.url}/webhooks`
  return {
    given,
    fake,
    rail,
    clock,
    gateway,
    log,
    async openAnother() {
      const another = await open()
      rails.push(another)
      return another
    },
    async close() {
      for (const each of rails) await each.close()
      await fake.close()
      await gateway.close()
    },
  }
}

/** Accepts only signed notifications. */
export async function openGateway(clock: TestClock): Promise<Gateway> {
  const notifications: RailNotification[] = []
  const state = { isDown: false }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (state.isDown) return void response.destroy()
    gateway.onNotification()
    const verdict = verifyWebhook(request.headers, body, { secrets: [railSecret], nowMs: clock.nowMs })
    if (verdict === 'genuine') notifications.push(parseRailNotification(body))
    response.writeHead(verdict === 'genuine' ? 204 : 401).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: the server listens on a port.
  const { port } = server.address() as AddressInfo
  const gateway: Gateway = {
    onNotification: () => {},
    notifyUrl: `http://127.0.0.1:${port}/rails/test/notifications`,
    notifications,
    get isDown() {
      return state.isDown
    },
    set isDown(isDown) {
      state.isDown = isDown
    },
    async close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return gateway
}

export type Start = RailMessageOf<'payment.start'>

export function startMessage(
  { given, clock, gateway }: Pick<World, 'given' | 'clock' | 'gateway'>,
  {
    amountMinor = 1250n,
    currency = given.currency,
    ...changes
  }: Partial<Omit<Start, 'amountMinor'>> & {
    readonly amountMinor?: bigint
  } = {},
): Start {
  return {
    type: 'payment.start',
    transactionId: makeTransactionId(clock.nowMs, randomBytes),
    paymentId: makePaymentId(clock.nowMs, randomBytes),
    merchantId: '100000000000000001',
    merchantName: 'Leaf & Cup',
    orderNo: 'A-1',
    description: 'Two cups',
    amount: toDecimalText(amountMinor, currency),
    amountMinor: String(amountMinor),
    currency,
    createdAt: clock.nowMs,
    expiresAt: clock.nowMs + 15 * 60_000,
    returnUrl: 'https://gateway.example/pay/1/rail',
    notifyUrl: gateway.notifyUrl,
    locale: 'en',
    channel: 'WEB',
    ...changes,
  }
}

export function refundMessage(start: Start, amountMinor: bigint): RailMessageOf<'refund.start'> {
  return {
    type: 'refund.start',
    refundId: makeRefundId(Date.now(), randomBytes),
    transactionId: start.transactionId,
    amount: toDecimalText(amountMinor, start.currency),
    amountMinor: String(amountMinor),
    currency: start.currency,
    reason: 'Returned',
  }
}

export interface Reply {
  readonly httpStatus: number
  readonly status?: string
  readonly reason?: string
  readonly reference?: string
  readonly amountMinor?: string
  readonly page?: string
}

type Message = Start | RailMessageOf<'payment.status' | 'payment.cancel' | 'refund.start' | 'refund.status'>

/** Sends like the gateway: signed, and with the gateway's check of the response. */
async function post(
  messagesUrl: string,
  message: Message | CaptureMessage | DisputeMessage,
  nowMs: number,
): Promise<{ readonly httpStatus: number; readonly text?: string }> {
  const body = JSON.stringify(message)
  const id = randomUUID()
  const context = { secrets: [railSecret], nowMs }
  const headers = { 'content-type': 'application/json', ...signWebhook({ id, body }, context) }
  const response = await fetch(messagesUrl, { method: 'POST', headers, body })
  const answered = Buffer.from(await response.arrayBuffer())
  if (response.status !== 200) return { httpStatus: response.status }
  const verdict = verifyRailResponse(Object.fromEntries(response.headers), answered, {
    messageId: id,
    ...context,
  })
  if (verdict !== 'genuine') throw new Error(`the response is ${verdict}`)
  return { httpStatus: 200, text: answered.toString() }
}

/** Undefined if the rail did not answer. */
export async function sendDispute(
  messagesUrl: string,
  message: DisputeMessage,
  nowMs = Date.now(),
): Promise<DisputeAnswer | undefined> {
  const { text } = await post(messagesUrl, message, nowMs)
  return text === undefined ? undefined : parseDisputeAnswer(text)
}

/** Undefined if the rail did not answer. */
export async function sendCapture(
  { rail, clock }: World,
  message: CaptureMessage,
): Promise<{ readonly status: string; readonly reason?: string } | undefined> {
  const { text } = await post(`${rail.url}/messages`, message, clock.nowMs)
  if (text === undefined) return undefined
  return message.type === 'payment.capture'
    ? parseRailCaptureAnswer(text)
    : parseRailPaymentAnswer('payment.release', text)
}

export async function send(messagesUrl: string, message: Message, nowMs = Date.now()): Promise<Reply> {
  const { httpStatus, text } = await post(messagesUrl, message, nowMs)
  if (text === undefined) return { httpStatus }
  if (message.type === 'refund.start' || message.type === 'refund.status')
    return { httpStatus: 200, ...parseRailRefundAnswer(message.type, text) }
  const answer = parseRailPaymentAnswer(message.type, text)
  const page =
    answer.status !== 'pending'
      ? undefined
      : answer.nextAction.kind === 'redirect'
        ? answer.nextAction.url
        : answer.nextAction.kind === 'qr'
          ? answer.nextAction.text
          : undefined
  return { httpStatus: 200, ...answer, ...(page !== undefined && { page }) }
}

export async function ask({ rail, clock, fake }: World, message: Message): Promise<Reply> {
  const reply = await send(`${rail.url}/messages`, message, clock.nowMs)
  if (reply.page !== undefined) await fake.open?.(reply.page)
  return reply
}
export const statusOf = (world: World, { transactionId }: Start) =>
  ask(world, { type: 'payment.status', transactionId })
