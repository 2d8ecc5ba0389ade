// The test bank over HTTP: the gateway's messages at /messages, pages for people, and notifications to the gateway. Everything
// it knows of Tillgate is the public protocol.
import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import * as protocol from '@tillgate/protocol'
import { redirect, sendPage } from '../page.ts'
import { type Choice, choices, type Entry, makeBank, refundWays } from './bank.ts'
import { decisions } from './disputes.ts'
import { frontPage, payPage, troublePage } from './pages.ts'
import { style } from './style.ts'

export interface ServerParts {
  readonly url: string
  /** Two while one is replaced. */
  readonly secrets: readonly string[]
  /** Left out, the bank forgets everything when it ends. */
  readonly journalPath?: string | undefined
}

const triesAfterMs = [0, 1_000, 5_000, 30_000]

export function openBank({ url, secrets, journalPath }: ServerParts): Server {
  const bank = makeBank({
    url,
    now: Date.now,
    kept: journalPath === undefined ? [] : readJournal(journalPath),
    keep(entry) {
      if (journalPath !== undefined) appendFileSync(journalPath, `${JSON.stringify(entry)}\n`)
      tellOf(entry)
    },
  })

  return createServer((request, response) => {
    answer(request, response).catch((error: Error) => {
      process.stderr.write(`${error.stack}\n`)
      response.destroy()
    })
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', url)
    const [, transactionId = ''] = /^\/pay\/(\w{1,30})$/.exec(pathname) ?? []
    const payment = bank.payment(transactionId)
    const body = await readBody(request)
    if (body === undefined) return void response.writeHead(413, { connection: 'close' }).end()
    const form = new URLSearchParams(body)
    switch (`${request.method} ${pathname}`) {
      case 'POST /messages':
        return answerMessage(request, response, body)
      case 'GET /':
        return sendPage(response, 200, frontPage(bank))
      case 'GET /style.css':
        return void response.setHeader('content-type', 'text/css; charset=utf-8').end(style)
      case 'POST /refunds':
        bank.setRefundWay(refundWays.find((each) => each === form.get('way')) ?? 'approve')
        return redirect(response, '/')
    }
    if (!payment) return sendPage(response, 404, troublePage('The bank knows no such page or payment.'))
    if (request.method !== 'POST') return sendPage(response, 200, payPage(payment))
    // Whoever knows the payment's number may choose: it is the consumer, or the checkout of a sandbox.
    const choice = form.get('choice') ?? ''
    const decision = decisions.get(choice)
    if (decision) bank.disputes.decide(payment, decision)
    if (Object.hasOwn(choices, choice)) bank.choose(transactionId, choice as Choice)
    redirect(response, form.has('stay') ? '/' : payment.returnUrl)
  }

  function answerMessage({ headers }: IncomingMessage, response: ServerResponse, body: string) {
    const verdict = protocol.verifyWebhook(headers, body, { secrets, nowMs: Date.now() })
    try {
      if (verdict !== 'genuine') return sendJson(response, 401, { error: verdict })
      const aboutDispute = protocol.parseDisputeMessage(body)
      const said = aboutDispute
        ? bank.disputes.answer(aboutDispute)
        : bank.answer(protocol.parseCaptureMessage(body) ?? protocol.parseRailMessage(body))
      const answered = JSON.stringify(said)
      const signed = protocol.signRailResponse(headers, answered, { secrets, nowMs: Date.now() })
      response.writeHead(200, { 'content-type': 'application/json', ...signed }).end(answered)
    } catch (error) {
      if (!(error instanceof protocol.Failure)) throw error
      sendJson(response, 400, { error: error.message })
    }
  }

  function tellOf(entry: Entry): void {
    if ('payment' in entry) {
      const { transactionId, notifyUrl, choice, settlesAtMs } = entry.payment
      const notification = { type: 'payment.changed', transactionId } as const
      if (choice !== undefined && choice !== 'late') void tell(notifyUrl, notification)
      if (choice === 'twice') void tell(notifyUrl, notification)
      if (settlesAtMs !== undefined) void tell(notifyUrl, notification, settlesAtMs)
    }
    if ('dispute' in entry) {
      const { disputeId, transactionId, notifyUrl, status } = entry.dispute
      const type = status === 'open' ? 'dispute.opened' : (`dispute.${status}` as const)
      void tell(notifyUrl, { type, version: protocol.disputeVersion, disputeId, transactionId })
    }
    if ('refund' in entry && entry.refund.settlesAtMs !== undefined) {
      const { refundId, transactionId, settlesAtMs } = entry.refund
      const { notifyUrl = '' } = bank.payment(transactionId) ?? {}
      void tell(notifyUrl, { type: 'refund.changed', refundId }, settlesAtMs)
    }
  }

  /** A notification that does not arrive costs time alone: the gateway asks by itself too. */
  async function tell(notifyUrl: string, notification: protocol.RailNotification, atMs = 0): Promise<void> {
    const message = { id: randomUUID(), body: JSON.stringify(notification) }
    await pause(Math.max(0, atMs - Date.now()), undefined, { ref: false })
    for (const afterMs of triesAfterMs) {
      await pause(afterMs, undefined, { ref: false })
      const signed = protocol.signWebhook(message, { secrets, nowMs: Date.now() })
      const headers = { 'content-type': 'application/json', ...signed }
      const request = { method: 'POST', headers, body: message.body, signal: AbortSignal.timeout(5_000) }
      const told = await fetch(notifyUrl, request).catch(() => undefined)
      if (told?.ok) return
    }
    process.stderr.write(`A notification did not arrive at ${notifyUrl}.\n`)
  }
}

/** A line that was cut off when the bank was killed was never answered for. */
function readJournal(path: string): Entry[] {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  if (whole !== text) truncateSync(path, Buffer.byteLength(whole))
  return JSON.parse(`[${whole.trimEnd().split('\n').join(',')}]`)
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk
    if (text.length > protocol.maxEvidenceMessageBytes) return undefined
  }
  return text
}

const sendJson = (response: ServerResponse, httpStatus: number, value: object) =>
  void response.writeHead(httpStatus, { 'content-type': 'application/json' }).end(JSON.stringify(value))
