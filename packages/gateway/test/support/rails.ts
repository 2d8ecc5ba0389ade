// A bank that speaks the rail protocol over real HTTP, does what the test tells it, and remembers what it was asked; and
// the operations that ask it, over a database and with a clock that the test holds.

import { randomBytes } from 'node:crypto'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import {
  type CaptureMessage,
  type DisputeMessage,
  parseCaptureMessage,
  parseDisputeMessage,
  parseRailMessage,
  type RailMessage,
  signRailResponse,
  signWebhook,
  verifyWebhook,
} from '@tillgate/protocol'
import { noExtras } from '../../src/actions/rails/rail-actions.ts'
import { type Config, readConfig } from '../../src/app/settings/config.ts'
import { maxRailAnswerBytes, type RailPost, railTimeoutMs } from '../../src/finance/rails/rail-client.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import { outboundLimits } from '../../src/platform/outbound/limits.ts'
import { makeOutbound, systemParts } from '../../src/platform/outbound/outbound.ts'
import type { Clock } from '../../src/platform/runtime/clock.ts'
import { actingAs } from './acting.ts'
import { logTo } from './log.ts'
import { openMoney } from './money.ts'
import { testOperations } from './operations.ts'
import { testEnvironment } from './started.ts'

/** An answer, a text instead of one, or what to do with the connection. */
export type Said =
  | object
  | string
  | 'drop'
  | ((reply: ServerResponse, respond: (said: object | string) => void) => void)

export interface SignedResponse {
  readonly messageId: string
  readonly nowMs: number
  /** As it should be signed, or for another message, at another time, with other secrets. */
  readonly sign: (id?: string, atMs?: number, secrets?: readonly string[]) => Record<string, string>
}

type Asked = RailMessage | CaptureMessage

export class TestBank {
  readonly asked: Asked[] = []
  readonly secrets: string[] = []
  /** Verdicts on messages that were not genuine. */
  readonly refused: string[] = []
  readonly payments = new Map<string, object>()
  readonly refunds = new Map<string, object>()
  readonly disputes = new Map<string, object>()
  readonly askedOfDisputes: DisputeMessage[] = []
  /** What a payment is from its start on. */
  first: object = { status: 'pending', nextAction: { kind: 'redirect', url: 'https://bank.example/pay' } }
  firstRefund: object = { status: 'approved', reference: 'refund' }
  /** Instead of what it would answer; undefined: as usual. */
  says: (message: Asked) => Said | undefined = () => undefined
  /** By captureId. */
  readonly captures = new Map<string, object>()
  /** The headers of a response, instead of its signature; undefined: as usual. */
  signs: (response: SignedResponse) => object | undefined = () => undefined
  readonly #clock: Clock
  readonly #server: Server

  constructor(clock: Clock) {
    this.#clock = clock
    this.#server = createServer((request, reply) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString()
        const verdict = verifyWebhook(request.headers, body, {
          secrets: this.secrets,
          nowMs: this.#clock.now(),
        })
        if (verdict !== 'genuine') {
          this.refused.push(verdict)
          reply.writeHead(401).end()
          return
        }
        const respondTo = (given: object | string) =>
          this.#respond(String(request.headers['webhook-id']), given, reply)
        const aboutDispute = parseDisputeMessage(body)
        if (aboutDispute) {
          this.askedOfDisputes.push(aboutDispute)
          return respondTo(this.disputes.get(aboutDispute.disputeId) ?? { status: 'unknown' })
        }
        const message = parseCaptureMessage(body) ?? parseRailMessage(body)
        this.asked.push(message)
        const usual = this.#answer(message)
        const said = this.says(message) ?? usual
        const respond = respondTo
        if (said === 'drop') reply.destroy()
        else if (typeof said === 'function') said(reply, respond)
        else respond(said)
      })
    })
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/rail`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  /** What it was asked since the last time, by type. */
  types(): string[] {
    return this.asked.splice(0).map(({ type }) => type)
  }

  /** A notification as this bank signs it. */
  notification(
    notification: object,
    secret = this.secrets[0] ?? '',
  ): { body: string; headers: Record<string, string> } {
    const body = JSON.stringify(notification)
    const id = randomBytes(8).toString('hex')
    return {
      body,
      headers: { ...signWebhook({ id, body }, { secrets: [secret], nowMs: this.#clock.now() }) },
    }
  }

  #respond(messageId: string, said: object | string, reply: ServerResponse): void {
    const body = typeof said === 'string' ? said : JSON.stringify(said)
    const nowMs = this.#clock.now()
    const sign = (id = messageId, atMs = nowMs, secrets: readonly string[] = this.secrets) =>
      signRailResponse({ 'webhook-id': id }, body, { secrets, nowMs: atMs })
    const headers = this.signs({ messageId, nowMs, sign }) ?? sign()
    reply.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body)
  }

  #answer(message: Asked): object {
    switch (message.type) {
      case 'payment.capture': {
        const { captureId, transactionId, final } = message
        if (!this.captures.has(captureId)) {
          this.captures.set(captureId, { status: 'approved', amountMinor: message.amountMinor })
          if (final) this.payments.set(transactionId, approved)
        }
        return this.captures.get(captureId) ?? {}
      }
      case 'payment.release':
        this.payments.set(message.transactionId, { status: 'cancelled' })
        return { status: 'cancelled' }
      case 'payment.start':
        if (!this.payments.has(message.transactionId)) this.payments.set(message.transactionId, this.first)
        return this.payments.get(message.transactionId) ?? {}
      case 'payment.status':
        return this.payments.get(message.transactionId) ?? { status: 'unknown' }
      case 'payment.cancel': {
        const payment = this.payments.get(message.transactionId) as { status: string } | undefined
        if (!payment) return { status: 'unknown' }
        if (payment.status === 'pending') this.payments.set(message.transactionId, { status: 'cancelled' })
        return this.payments.get(message.transactionId) ?? {}
      }
      case 'refund.start':
        if (!this.refunds.has(message.refundId)) this.refunds.set(message.refundId, this.firstRefund)
        return this.refunds.get(message.refundId) ?? {}
      case 'refund.status':
        return this.refunds.get(message.refundId) ?? { status: 'unknown' }
    }
  }
}

export const approved = { status: 'approved', reference: 'bank-1' }
export const authorized = { status: 'authorized', reference: 'bank-1' }

export type Rails = Awaited<ReturnType<typeof openRails>>

export interface RailsGiven {
  readonly clock: Clock
  readonly lateMoney?: 'refund' | 'hold'
  readonly config?: Config
  /** The matcher has something to do. */
  /** By which messages are sent. */
  readonly post?: RailPost
}

/** As the gateway sends, with less patience where a test asks for it. */
export function openPost(attemptTimeoutMs = railTimeoutMs): RailPost {
  const outbound = makeOutbound(
    {
      ...outboundLimits,
      mode: 'sandbox',
      allowedTargets: [],
      attemptTimeoutMs,
      connectTimeoutMs: Math.min(outboundLimits.connectTimeoutMs, attemptTimeoutMs),
      maxAnswerBytes: maxRailAnswerBytes,
      maxReadBytes: 2 * maxRailAnswerBytes,
    },
    systemParts(),
  )
  after(() => outbound.close())
  return outbound.post
}

/** Fresh parts on a database; calling it again on the same one is another gateway, or a restart. */
export async function openRails(
  pool: Pool,
  { clock, lateMoney = 'refund', post = openPost(), ...given }: RailsGiven,
) {
  const alerts: string[] = []
  const troubles: unknown[] = []
  const failedCalls: { readonly reason?: string }[] = []
  const { stores, operations } = testOperations(pool, {
    config: { ...(given.config ?? readConfig(testEnvironment)), lateMoney },
    railPost: post,
    clock,
    log: logTo((fields, message) => {
      if (fields.err !== undefined) troubles.push(fields.err)
      else if (message === 'a call to a rail failed') failedCalls.push(fields)
      else alerts.push(message)
    }),
  })
  const money = openMoney(pool, { clock })
  return {
    stores,
    operations,
    money,
    alerts,
    troubles,
    failedCalls,
    post,
    async addBank(
      railId: string,
      given: { currencies?: string[]; authorizationDays?: number } = {},
    ): Promise<TestBank> {
      const bank = await new TestBank(clock).open()
      after(() => bank.close())
      const { rails } = actingAs(operations, 'test')
      const { secret } = await rails.addRail(
        railId,
        { ...noExtras, name: 'My bank', url: bank.url, currencies: ['USD', 'JPY'], ...given },
        'test',
      )
      operations.railDirectory.forget()
      bank.secrets.push(secret)
      return bank
    },
    /** One turn of the worker, to its end. */
    async turn(): Promise<number> {
      operations.railDirectory.forget()
      const { claimDue, work } = operations.askRails
      const due = await claimDue()
      await Promise.all(due.map(({ task, leave }) => work(task, leave)))
      return due.length
    },
  }
}
