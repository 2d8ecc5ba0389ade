// The test bank of examples/rail in this process, spoken to as a gateway does.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { makeWebhookSecret, parseRailNotification, signWebhook, verifyWebhook } from '@tillgate/protocol'
import { openBank } from '../../../../examples/rail/server.ts'

export const bankSecret = makeWebhookSecret((size) => Buffer.alloc(size, 7))

export async function openTestBank({ journalPath }: { journalPath?: string } = {}) {
  // Known before the bank is open: it is part of the address that it tells.
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const server = openBank({ url, secrets: [bankSecret], journalPath }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  after(close)
  return {
    url,
    messagesUrl: `${url}/messages`,
    close,
    send: (message: object) => sendMessage(`${url}/messages`, message),
    choose: (transactionId: string, choice: string) =>
      fetch(`${url}/pay/${transactionId}`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ choice }),
      }),
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return port
}

/** Collects what a rail tells, each notification verified. */
export async function listenForNotifications() {
  const notifications: unknown[] = []
  const waiting: (() => void)[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const verdict = verifyWebhook(request.headers, body, { secrets: [bankSecret], nowMs: Date.now() })
    notifications.push(verdict === 'genuine' ? parseRailNotification(body) : verdict)
    response.writeHead(204).end()
    for (const wake of waiting.splice(0)) wake()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  return {
    notifyUrl: `http://127.0.0.1:${port}/rails/bank/notifications`,
    async first(count: number) {
      while (notifications.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
      return notifications
    },
  }
}

export async function sendMessage(url: string, message: object, secret = bankSecret) {
  const body = JSON.stringify(message)
  const headers = signWebhook({ id: crypto.randomUUID(), body }, { secrets: [secret], nowMs: Date.now() })
  const response = await fetch(url, { method: 'POST', headers, body })
  const answer = (await response.json()) as { status?: string }
  return { httpStatus: response.status, answer }
}

let started = 0

export function startMessage(changes: object = {}) {
  const number = String(++started).padStart(6, '0')
  return {
    type: 'payment.start',
    transactionId: `T01K73ZQ802NZ7V3N4Q5R6${number}`,
    paymentId: 'P01K73ZQ800JZ7V3N4Q5R6S7T8W',
    merchantId: '100000000000000001',
    merchantName: 'Leaf & Cup <b>',
    orderNo: `A-${started}`,
    description: 'Two cups',
    amount: '12.50',
    amountMinor: '1250',
    currency: 'EUR',
    createdAt: Date.now(),
    expiresAt: Date.now() + 900_000,
    returnUrl: 'http://127.0.0.1:9/back',
    notifyUrl: 'http://127.0.0.1:9/notifications',
    locale: 'en',
    channel: 'WEB',
    ...changes,
  }
}
