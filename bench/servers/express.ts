// The straightforward service that somebody would write in a day: Express and pg, the same cryptography and the same
// checks, one transaction a request, idempotent by orderNo. For comparison alone.
import { randomBytes } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import {
  makePaymentId,
  openRequest,
  parseAesKey,
  parseCreateBody,
  parsePublicKey,
  parseRequestEnvelope,
} from '@tillgate/protocol'
import pg from 'pg'
import { makeOrder, refusalOfTimes } from '../../packages/gateway/src/core/orders/rules/order.ts'
import { checkUrl, parseUrlPolicy } from '../../packages/gateway/src/platform/runtime/ssrf-guard.ts'
import { importYardstick } from '../yardsticks.ts'

interface Answer {
  status(httpStatus: number): Answer
  json(body: object): void
}
interface App extends RequestListener {
  use(handler: unknown): void
  post(path: string, handler: (request: { body: unknown }, answer: Answer) => Promise<void>): void
}
const { default: express } = await importYardstick<{
  default: { (): App; text(options: object): unknown }
}>('express')

const { databaseUrl, aesKey, publicKey } = JSON.parse(process.env['BENCH'] ?? '{}')
const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 })
const keys = { aesKeys: [parseAesKey(aesKey)], publicKeys: [parsePublicKey(publicKey)] }
const policy = parseUrlPolicy({ mode: 'sandbox', allowedTargets: [] })

const app = express()
app.use(express.text({ type: 'application/json', limit: '256kb' }))
app.post('/api/v1/gateway', async (request, answer) => {
  const envelope = parseRequestEnvelope(String(request.body))
  const plain = await openRequest(envelope, keys)
  if (plain === undefined) {
    answer.status(401).json({ code: 40100 })
    return
  }
  const nowMs = Date.now()
  const order = makeOrder(parseCreateBody(plain), {
    merchantId: envelope.merchantId,
    paymentId: makePaymentId(nowMs, randomBytes),
    nowMs,
  })
  const refused =
    refusalOfTimes(order, nowMs) ??
    [order.callbackUrl, order.redirectUrl].find(
      (url) => url !== undefined && checkUrl(url, policy).kind === 'refused',
    )
  if (refused) {
    answer.status(400).json({ code: 40001 })
    return
  }
  answer.json({ code: 20000, msg: 'SUCCESS', data: await insert(order) })
})

async function insert(order: ReturnType<typeof makeOrder>): Promise<object> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query(
      'select payment_id, status from orders where merchant_id = $1 and order_no = $2',
      [order.merchantId, order.orderNo],
    )
    if (rows.length === 0) {
      await client.query(
        `insert into orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency,
                             payment_time, expires_at, callback_url, redirect_url, content, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
        [
          order.merchantId,
          order.paymentId,
          order.orderNo,
          order.status,
          order.channel,
          order.paymentAmountMinor,
          order.currency,
          order.paymentTimeMs,
          order.expiresAtMs,
          order.callbackUrl,
          order.redirectUrl,
          order.content,
          order.createdAtMs,
        ],
      )
    }
    await client.query('commit')
    return { paymentId: rows[0]?.payment_id ?? order.paymentId, status: rows[0]?.status ?? order.status }
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

const server = createServer(app)
server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
