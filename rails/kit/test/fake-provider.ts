// The interface of a provider's fake for the shared tests: a consumer who pays, faults at each call, and webhooks.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakePayment {
  readonly transactionId: string
  readonly providerId: string
  /** As sent by the rail, in the provider's own units. */
  readonly amount: string
  readonly currency: string
  readonly locale: string
  readonly status: 'open' | 'processing' | 'paid' | 'failed' | 'cancelled'
  readonly refunds: readonly { readonly refundId: string; readonly amount: string }[]
}

/** `drop`: the connection ends without a response. `down`: HTTP 500 without effect. */
export type Fate = 'go on' | 'drop' | 'down'
export type Intercept = (call: string, phase: 'before' | 'after') => Fate | Promise<Fate>

/** A settlement, with its name on the bank statement. */
export interface PaidOut {
  readonly batch: string
  readonly netMinor: bigint
  readonly feeMinor: bigint
}

/** The consumer's bank, and what the provider does about it. Webhooks are sent before these return. */
export interface FakeDisputes {
  /** What the provider charges for each dispute, if it says so. */
  readonly feeMinor: bigint | undefined
  /** The provider takes the amount back, by default all of it. Returns the dispute's id. */
  open(transactionId: string, amount?: number): Promise<string>
  /** The bank asks, and the provider takes nothing back yet. */
  inquire?(transactionId: string): Promise<string>
  decide(disputeId: string, result: 'won' | 'lost'): Promise<void>
  sendWebhook(disputeId: string, how?: { readonly forged?: boolean }): Promise<number>
  /** Each submission that reached the provider: its text and its file. */
  evidence(disputeId: string): readonly string[]
}

export interface FakeProvider {
  readonly url: string
  /** The calls so far, such as `POST /v1/refunds`. */
  readonly calls: string[]
  intercept: Intercept
  /** The URL for webhooks. Undefined: none are sent. */
  webhookUrl: string | undefined
  payments(): readonly FakePayment[]
  /** The consumer's browser opens the page. Some providers create the payment only then. */
  open?(page: string): Promise<void>
  /** The consumer's action on the provider's page. Webhooks are sent before this returns. */
  consumer(transactionId: string, does: 'pays' | 'pays slowly' | 'settles' | 'fails'): Promise<void>
  /** The next refund stays in progress until `finishRefunds`. */
  slowRefunds: boolean
  finishRefunds(result: 'succeeded' | 'failed'): Promise<void>
  /** Sends a webhook, signed correctly or not. Returns its HTTP status. */
  sendWebhook(
    transactionId: string,
    how?: { readonly forged?: boolean; readonly ageMs?: number },
  ): Promise<number>
  /** The provider has another amount than the requested one. */
  changeAmount(transactionId: string, amount: number): void
  /** Settles everything that was not settled yet, for providers with reports. */
  payOut?(): PaidOut | Promise<PaidOut>
  /** For providers whose rail passes on disputes. */
  readonly disputes?: FakeDisputes
  close(): Promise<void>
}

export interface FakeCall {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface FakeReply {
  readonly status: number
  readonly body: string | Buffer
  readonly type?: string
  readonly location?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The HTTP part of a fake. `page` serves the consumers' pages, without faults. */
export async function openFakeServer(parts: {
  readonly answer: (call: FakeCall) => FakeReply | Promise<FakeReply>
  readonly page: (call: FakeCall) => FakeReply | undefined | Promise<FakeReply | undefined>
  readonly intercept: () => Intercept
  readonly calls: string[]
  /** The request without its ids. */
  readonly nameOf: (call: FakeCall) => string
}) {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake')
    let body = ''
    for await (const chunk of request) body += chunk
    const call: FakeCall = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body,
    }
    // Browsers request it with every page.
    if (call.path === '/favicon.ico') return send(response, { status: 204, body: '' })
    const page = await parts.page(call)
    if (page) return send(response, page)
    const name = parts.nameOf(call)
    parts.calls.push(name)
    const intercept = parts.intercept()
    const before = await intercept(name, 'before')
    if (before === 'drop') return void response.destroy()
    if (before === 'down') return send(response, { status: 500, body: '{}' })
    const reply = await parts.answer(call)
    const after = await intercept(name, 'after')
    if (after !== 'go on') return void response.destroy()
    send(response, reply)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: the server listens on a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function send(
  response: ServerResponse,
  { status, body, type = 'application/json', location, headers }: FakeReply,
): void {
  response.writeHead(status, { 'content-type': type, ...(location && { location }), ...headers }).end(body)
}

/** Retries a few times after a failure, like a provider. */
export async function postWebhook(
  url: string,
  body: string,
  headers: () => Record<string, string>,
  tries = 1,
): Promise<number> {
  for (let left = tries; ; left--) {
    const response = await fetch(url, { method: 'POST', headers: headers(), body }).catch(() => undefined)
    await response?.body?.cancel()
    if (response?.ok || left <= 1) return response?.status ?? 0
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
