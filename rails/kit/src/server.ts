// A rail over HTTP: the gateway's messages, the provider's webhooks, and health.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import {
  Failure,
  maxEvidenceMessageBytes,
  parseCaptureMessage,
  parseDisputeMessage,
  parseRailMessage,
  parseSettlementReport,
  signRailResponse,
  verifyWebhook,
} from '@tillgate/protocol'
import { leadingPage } from './leading-page.ts'
import type { Log } from './log.ts'
import { ProviderUnavailable } from './provider.ts'
import type { Rail } from './rail.ts'

export interface ServerParts {
  readonly rail: Rail
  readonly secrets: readonly string[]
  readonly now: () => number
  readonly log: Log
  readonly isHealthy: () => Promise<boolean>
  /** Called when there may be work. */
  readonly wake: () => void
  readonly webhookReply: string
}

const maxWebhookBytes = 512 * 1024

export function makeRailServer(parts: ServerParts): Server {
  const { log } = parts
  const server = createServer({ requestTimeout: 15_000, headersTimeout: 10_000 }, (request, response) => {
    answer(parts, request, response).catch((error: unknown) => {
      log.error('a request failed', { path: request.url, error })
      if (response.headersSent) response.destroy()
      else sendJson(response, 500, { error: 'The rail failed. The log has the reason.' })
    })
  })
  server.maxConnections = 500
  return server
}

async function answer(parts: ServerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '/').split('?')[0]
  const [, transactionId] = /^\/pay\/(\w{1,30})$/.exec(path ?? '') ?? []
  if (transactionId !== undefined && request.method === 'GET')
    return answerConsumer(parts, transactionId, request, response)
  switch (`${request.method} ${path}`) {
    case 'POST /messages':
      return answerMessage(parts, request, response)
    case 'POST /webhooks':
      return answerWebhook(parts, request, response)
    case 'GET /healthz': {
      const isHealthy = await parts.isHealthy()
      return sendJson(response, isHealthy ? 200 : 503, { status: isHealthy ? 'ok' : 'no database' })
    }
    default:
      return sendJson(response, 404, { error: 'There is POST /messages, POST /webhooks and GET /healthz.' })
  }
}

async function answerMessage(
  { rail, secrets, now, log }: ServerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request, maxEvidenceMessageBytes)
  if (body === undefined) return sendJson(response, 413, { error: 'The message is too long.' })
  const verdict = verifyWebhook(request.headers, body, { secrets, nowMs: now() })
  if (verdict !== 'genuine') return sendJson(response, 401, { error: verdict })
  try {
    const report = parseSettlementReport(body)
    const dispute = report ? undefined : parseDisputeMessage(body)
    const capture = report || dispute ? undefined : parseCaptureMessage(body)
    const answer = report
      ? rail.reportSettlements(report)
      : dispute
        ? rail.answerDispute(dispute)
        : capture
          ? rail.answerCapture(capture)
          : rail.answer(parseRailMessage(body))
    const answered = JSON.stringify(await answer)
    const signed = signRailResponse(request.headers, answered, { secrets, nowMs: now() })
    response.writeHead(200, { 'content-type': 'application/json', ...signed }).end(answered)
  } catch (error) {
    if (error instanceof Failure) return sendJson(response, 400, { error: error.message })
    if (!(error instanceof ProviderUnavailable)) throw error
    log.error('the provider did not give an answer', { error })
    sendJson(response, 503, { error: 'The provider did not give an answer.' })
  }
}

async function answerConsumer(
  { rail }: ServerParts,
  transactionId: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = await rail.openPage(transactionId, consumerIpOf(request))
  if (url === undefined) return sendJson(response, 404, { error: 'There is no such page.' })
  const { headers, html } = leadingPage(url)
  response.writeHead(200, headers).end(html)
}

/** The client's address, which the proxy in front of the rail appends to this header. */
function consumerIpOf({ headers, socket }: IncomingMessage): string {
  const seen = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').at(-1)?.trim()
  return (seen || socket.remoteAddress || '').replace(/^::ffff:/, '')
}

async function answerWebhook(
  { rail, now, wake, log, webhookReply }: ServerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request, maxWebhookBytes)
  const query = new URL(request.url ?? '/', 'http://rail').searchParams
  if (body === undefined) return sendJson(response, 413, { error: 'The webhook is too long.' })
  if (!(await rail.takeWebhook({ headers: request.headers, query, body, nowMs: now() }))) {
    log.error('a webhook was not signed by the provider, or too long ago')
    return sendJson(response, 401, { error: 'The signature is wrong or too old.' })
  }
  response.writeHead(200, { 'content-type': 'text/plain' }).end(webhookReply)
  wake()
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= maxBytes) chunks.push(chunk)
    else if (size > 4 * maxBytes) break
  }
  return size > maxBytes ? undefined : Buffer.concat(chunks).toString()
}

function sendJson(response: ServerResponse, httpStatus: number, value: object): void {
  const close = httpStatus === 413 ? { connection: 'close' } : {}
  response.writeHead(httpStatus, { 'content-type': 'application/json', ...close }).end(JSON.stringify(value))
}
