// What every fake of a provider offers to the shared tests: a consumer who pays, faults at each call, and webhooks.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakePayment {
  readonly transactionId: string
  readonly providerId: string
  /** As the rail sent it, in the provider's own units. */
  readonly amount: string
  readonly currency: string
  readonly locale: string
  readonly status: 'open' | 'processing' | 'paid' | 'failed' | 'cancelled'
  readonly refunds: readonly { readonly refundId: string; readonly amount: string }[]
}

/** `drop`: the connection ends without a response. `down`: HTTP 500, and nothing is done. */
export type Fate = 'go on' | 'drop' | 'down'
export type Intercept = (call: string, phase: 'before' | 'after') => Fate | Promise<Fate>

/** What the provider paid over, and how the bank names it. */
export interface PaidOut {
  readonly batch: string
  readonly netMinor: bigint
  readonly feeMinor: bigint
}

export interface FakeProvider {
  readonly url: string
  /** The calls so far, such as `POST /v1/refunds`. */
  readonly calls: string[]
  intercept: Intercept
  /** Where the provider sends webhooks; undefined: nowhere. */
  webhookUrl: string | undefined
  payments(): readonly FakePayment[]
  /** The consumer's browser opens the page, for providers that learn of a payment only then. */
  open?(page: string): Promise<void>
  /** What the consumer does on the provider's page. Webhooks are sent before it returns. */
  consumer(transactionId: string, does: 'pays' | 'pays slowly' | 'settles' | 'fails'): Promise<void>
  /** The next refund is processed for a while, until `finishRefunds`. */
  slowRefunds: boolean
  finishRefunds(result: 'succeeded' | 'failed'): Promise<void>
  /** A webhook as the provider signs it, or not. Returns its HTTP status. */
  sendWebhook(
    transactionId: string,
    how?: { readonly forged?: boolean; readonly ageMs?: number },
  ): Promise<number>
  /** The provider has another amount than it was asked for. */
  changeAmount(transactionId: string, amount: number): void
  /** Pays over all that was not paid over yet, for providers that report it. */
  payOut?(): PaidOut | Promise<PaidOut>
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

/** The HTTP part of a fake. Pages for consumers are answered by `page`, without faults. */
export async function openFakeServer(parts: {
  readonly answer: (call: FakeCall) => FakeReply | Promise<FakeReply>
  readonly page: (call: FakeCall) => FakeReply | undefined | Promise<FakeReply | undefined>
  readonly intercept: () => Intercept
  readonly calls: string[]
  /** The call without its ids. */
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
    // Browsers ask for it on every page.
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

/** As a provider does it: again after a failure, a few times. */
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
