// The filter of ops/fail2ban, read by fail2ban itself over the log of a real gateway: whom it bans, and whom it does not.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { startTestGateway } from '../support/gateway.ts'
import { type LogLine, readableLog } from '../support/log-lines.ts'
import { temporaryFolder } from '../support/process.ts'

const filter = join(import.meta.dirname, '../../../../ops/fail2ban/tillgate.conf')

/** The addresses that fail2ban finds in these lines, in their order. */
function foundIn(lines: readonly LogLine[]): string[] {
  const file = join(temporaryFolder(), 'tillgate.log')
  // As journald hands them over, with the name of the machine and of the unit before them.
  writeFileSync(file, lines.map((line) => `gateway-1 tillgate[7]: ${JSON.stringify(line)}\n`).join(''))
  return execFileSync('fail2ban-regex', ['--out', 'ip', file, filter], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '')
}

const { log, lines } = await readableLog()
const clock = new TestClock()
const gateway = await startTestGateway({
  log,
  clock,
  environment: {
    TRUSTED_PROXIES: '127.0.0.1',
    FAILED_OPENINGS_PER_MINUTE: '1',
    MERCHANT_REQUESTS_PER_SECOND: '1',
  },
})
const merchant = await gateway.addMerchant()
const from = (address: string) => ({ 'x-forwarded-for': address, 'content-type': 'application/json' })

/** Lines that were written since, once there are so many. */
async function linesOf(count: number, act: () => Promise<unknown>): Promise<LogLine[]> {
  // The lines of a second are bounded.
  clock.advance(1_000)
  const before = lines.length
  await act()
  await until(() => lines.length >= before + count)
  return lines.slice(before)
}

test('fail2ban finds whoever sends envelopes that cannot be opened, and whoever is throttled for it', async () => {
  const sealed = await merchant.seal('service.trade.query', { paymentId: 'P1' })
  const junk = JSON.stringify({ ...sealed, sign: 'AAAA' })
  const found = await linesOf(2, async () => {
    assert.equal((await gateway.post('/api/v1/gateway', junk, from('203.0.113.9'))).code, 40100)
    assert.equal((await gateway.post('/api/v1/gateway', junk, from('203.0.113.9'))).code, 42900)
  })
  assert.deepEqual(foundIn(found), ['203.0.113.9', '203.0.113.9'])
})

test('fail2ban finds whoever asks for paths that do not exist, over IPv6 too', async () => {
  const found = await linesOf(2, async () => {
    await fetch(`${gateway.url}/wp-login.php`, { headers: from('2001:db8::7') })
    await fetch(`${gateway.url}/wp-login.php`, {
      headers: { 'x-forwarded-for': '203.0.113.10', accept: 'text/html' },
    })
  })
  assert.deepEqual(foundIn(found), ['2001:db8::7', '203.0.113.10'])
})

test('fail2ban finds wrong sign-ins to the console and addresses that are shut out', () => {
  const time = new Date().toISOString()
  const found = [
    { level: 'warn', time, requestId: 'r', address: '203.0.113.11', msg: 'a wrong sign-in to the console' },
    { level: 'warn', time, requestId: 'r', address: '203.0.113.12', msg: 'wrong PIN at the checkout' },
    { level: 'warn', time, address: '2001:db8:0:1::/64', msg: 'address shut out for a minute' },
  ]
  assert.deepEqual(foundIn(found), ['203.0.113.11', '203.0.113.12', '2001:db8:0:1::/64'])
})

test('fail2ban leaves alone a merchant past its own rate, and a request with a wrong field', async () => {
  const call = (body: string) => gateway.post('/api/v1/gateway', body, from('203.0.113.20'))
  const sealed = async (body: object) => JSON.stringify(await merchant.seal('service.trade.query', body))
  const found = await linesOf(2, async () => {
    assert.equal((await call(await sealed({ paymentId: 7 }))).code, 40001)
    assert.equal((await call(await sealed({ paymentId: 'P1' }))).code, 42900)
  })
  assert.deepEqual(foundIn(found), [])
})

test('no client can have another one banned by what it sends', async () => {
  const forged = '","address":"198.51.100.1","httpStatus":401,"code":40100,"x":"'
  const found = await linesOf(2, async () => {
    await gateway.post('/api/v1/gateway', 'x', {
      'x-forwarded-for': '203.0.113.30',
      'content-type': `text/${forged}`,
    })
    await fetch(`${gateway.url}/${encodeURIComponent(forged)}`, {
      headers: { 'x-forwarded-for': forged },
    })
  })
  assert(!foundIn(found).includes('198.51.100.1'))
})
