// What the log says when the database goes away under a running gateway, and when it is back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/callbacks.ts'
import { cutDatabase } from '../support/cut-database.ts'
import { readExposition } from '../support/exposition.ts'
import { startTestGateway } from '../support/gateway.ts'
import { readableLog } from '../support/log-lines.ts'

test('a database that goes away is one line of an error, and one line when it is back, whatever fails meanwhile', async () => {
  const { log, lines } = await readableLog()
  const first = await startTestGateway()
  const way = await cutDatabase(first.config.databaseUrl ?? '')
  await first.stop()
  const gateway = await startTestGateway({ log, share: first, environment: { DATABASE_URL: way.url } })
  const merchant = await gateway.addMerchant()
  const query = async () => (await merchant.call('service.trade.query', { paymentId: 'P1' })).code
  assert.equal(await query(), 40400)
  const before = lines.length

  await way.cut()
  await until(async () => (await query()) === 50300)
  // Workers try again and again.
  const failed = async () =>
    readExposition(await (await fetch(`${gateway.adminUrl}/metrics`)).text()).sum(
      'tillgate_database_errors_total',
    )
  await until(async () => (await failed()) > 30)
  await way.mend()
  await until(async () => (await query()) === 40400)

  const since = lines
    .slice(before)
    .filter(({ msg }) => msg !== 'requests were turned away' && msg !== 'request')
  assert.deepEqual(
    since.map(({ level, msg }) => ({ level, msg })),
    [
      { level: 'error', msg: 'the database is unavailable' },
      { level: 'info', msg: 'the database is available again' },
    ],
  )
  assert.match(String(since[0]?.['reason']), /ECONNREFUSED|terminated|ECONNRESET/)
  assert(Number(since[1]?.['durationMs']) > 0)
  assert(since.every((line) => line['err'] === undefined))
})
