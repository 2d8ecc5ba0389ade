// The yardstick: the least that any such service must do. node:http, JSON.parse, open the envelope with the same
// cryptography, and write the same row, in batches, into the same PostgreSQL; or read it by its key, or a hundred of them
// with one query. No validation, no limits, no history, no idempotency.
import { createServer } from 'node:http'
import { openRequest, parseAesKey, parsePublicKey } from '@tillgate/protocol'
import { batched } from '../../packages/gateway/src/platform/database/batching.ts'
import { openPool } from '../../packages/gateway/src/platform/database/pool.ts'

const { databaseUrl, aesKey, publicKey } = JSON.parse(process.env['BENCH'] ?? '{}')
const pool = openPool({ connectionString: databaseUrl }, { max: 10 })
const keys = { aesKeys: [parseAesKey(aesKey)], publicKeys: [parsePublicKey(publicKey)] }
const batching = { maxItems: 200, maxFlights: 2, isItemError: () => false }

interface Row {
  merchantId: string
  paymentId: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the merchant sent
  body: any
  text: string
}

const insert = batched(async (rows: readonly Row[]) => {
  const now = Date.now()
  await pool.query({
    name: 'bare-insert',
    text: `
insert into bare_orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency,
                         payment_time, expires_at, callback_url, redirect_url, content, created_at)
select *
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[], $7::text[],
              $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::text[], $13::bigint[])`,
    values: [
      rows.map((row) => row.merchantId),
      rows.map((row) => row.paymentId),
      rows.map((row) => row.body.order.orderNo),
      rows.map(() => 'pending'),
      rows.map((row) => row.body.channel),
      rows.map(() => '1250'),
      rows.map((row) => row.body.currency),
      rows.map((row) => row.body.paymentTime),
      rows.map((row) => row.body.paymentExpiryTime),
      rows.map((row) => row.body.callbackUrl),
      rows.map((row) => row.body.redirectUrl),
      rows.map((row) => row.text),
      rows.map(() => now),
    ],
  })
  return rows
}, batching)

const find = batched(async (ids: readonly { merchantId: string; paymentId: string }[]) => {
  const { rows } = await pool.query<{ payment_id: string; status: string }>({
    name: 'bare-find',
    text: `
select o.*
  from unnest($1::text[], $2::text[]) as k (merchant_id, payment_id)
  join bare_orders o using (merchant_id, payment_id)`,
    values: [ids.map(({ merchantId }) => merchantId), ids.map(({ paymentId }) => paymentId)],
  })
  const found = new Map(rows.map((row) => [row.payment_id, row]))
  return ids.map(({ paymentId }) => found.get(paymentId))
}, batching)

async function listed(merchantId: string, { cursor, limit }: { cursor: string; limit: number }) {
  const { rows } = await pool.query({
    name: 'bare-list',
    text: 'select * from bare_orders where merchant_id = $1 and payment_id < $2 order by payment_id desc limit $3',
    values: [merchantId, cursor, limit],
  })
  // Read by both programs and sent by neither.
  return rows.map(({ content: _read, ...row }) => row)
}

let made = 0

async function answer(text: string): Promise<object> {
  const envelope = JSON.parse(text)
  const plain = await openRequest({ ...envelope, timestamp: String(envelope.timestamp) }, keys)
  if (plain === undefined) return { code: 40100 }
  const body = JSON.parse(plain)
  if (envelope.method === 'service.trade.query') {
    const row = await find({ merchantId: envelope.merchantId, paymentId: body.paymentId })
    return {
      code: row ? 20000 : 40400,
      msg: 'SUCCESS',
      data: { status: row?.status, paymentId: body.paymentId },
    }
  }
  if (envelope.method === 'service.order.list')
    return { code: 20000, msg: 'SUCCESS', data: { orders: await listed(envelope.merchantId, body) } }
  const paymentId = `B${process.pid}${(made++).toString().padStart(12, '0')}`
  await insert({ merchantId: envelope.merchantId, paymentId, body, text: plain })
  return { code: 20000, msg: 'SUCCESS', data: { paymentId, status: 'pending' } }
}

const server = createServer((request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', async () => {
    const text = JSON.stringify(await answer(Buffer.concat(pieces).toString()))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    response.end(text)
  })
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
