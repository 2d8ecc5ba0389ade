// The test bank of examples/rail beside a sandbox: registered at the start, approved, declined and late over real sockets,
// with both callbacks and the books proved.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { openBank } from '../../../../examples/rail/server.ts'
import { sandboxRail } from '../../src/app/sandbox/sandbox-programs.ts'
import { systemClock } from '../../src/platform/runtime/clock.ts'
import { loadMasterKeys } from '../../src/platform/runtime/secrets/master-keys.ts'
import { makeVault } from '../../src/platform/runtime/secrets/vault.ts'
import { bankChoices, ensureTestBank } from '../../src/sandbox/test-bank.ts'
import { actingAs } from '../support/acting.ts'
import { startTestGateway } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'
import { freePort } from '../support/test-bank.ts'

const port = await freePort()
const gateway = await startTestGateway({ environment: { RAIL_PORT: String(port) } })
const { stores, operations, pool } = gateway
const { secret } = JSON.parse(readFileSync(`${gateway.config.dataDir}/sandbox-rail.json`, 'utf8'))
const url = `http://127.0.0.1:${port}`
const bank = openBank({ url, secrets: [secret] }).listen(port, '127.0.0.1')
await once(bank, 'listening')
after(() => {
  bank.close()
  bank.closeAllConnections()
})
const merchant = await gateway.addMerchant()

async function begin() {
  const created = await merchant.call('service.trade.create', createBody({ now: systemClock.now() }))
  const { paymentId } = created.data
  const { data, msg } = await merchant.call('service.sandbox.pay', { paymentId, rail: 'test-bank' })
  assert(data?.nextAction, msg)
  return { paymentId, transactionId: String(data.transactionId), payUrl: String(data.nextAction.url) }
}

async function choose(payUrl: string, choice: string): Promise<void> {
  await fetch(payUrl, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ choice }) })
}

/** Asks until it is so; gateway and bank work meanwhile. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const giveUpAt = Date.now() + 20_000; !(await isSo()); ) assert(Date.now() < giveUpAt, 'in vain')
}

async function statusOf(paymentId: string): Promise<string> {
  return (await merchant.call('service.trade.query', { paymentId })).data.paymentStatus
}

async function attemptOf(transactionId: string): Promise<string | undefined> {
  const key = { merchantId: merchant.merchantId, transactionId }
  return (await stores.attempts.findAttempt(key))?.status
}

async function prove(): Promise<void> {
  assert.deepEqual((await operations.verifyLedger()).findings, [])
}

test('approved there: paid here, with both callbacks', async () => {
  const { paymentId, payUrl } = await begin()
  await choose(payUrl, 'approve')
  await until(async () => (await statusOf(paymentId)) === 'success')
  const { rows } = await pool.query<{ event_name: string }>(
    'select event_name from callbacks where payment_id = $1 order by created_at',
    [paymentId],
  )
  assert.deepEqual(
    rows.map(({ event_name }) => event_name),
    ['payment.order.confirming', 'payment.order.success'],
  )
  await prove()
})

test('declined there: a wallet pays instead', async () => {
  const { paymentId, transactionId, payUrl } = await begin()
  await choose(payUrl, 'decline')
  await until(async () => (await attemptOf(transactionId)) === 'declined')
  await merchant.call('service.sandbox.pay', { paymentId, outcome: 'success' })
  await until(async () => (await statusOf(paymentId)) === 'success')
  assert.equal((await merchant.call('service.trade.query', { paymentId })).data.payMethod, 'wallet')
  await prove()
})

test('one tap at the checkout is the choice at the bank', async () => {
  const expected = {
    approve: 'success',
    decline: 'pending',
    delay: 'confirming',
    late: 'pending',
    twice: 'success',
  }
  for (const [choice, status] of Object.entries({ ...expected, never: 'confirming' })) {
    const created = await merchant.call('service.trade.create', createBody({ now: systemClock.now() }))
    const link = String(created.data.checkoutUrl)
    const shown = await fetch(link)
    const cookie = shown.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ')
    const [, form = ''] = (await shown.text()).split('/pay-with-test-bank')
    assert(bankChoices.every((each) => form.includes(`value="${each}"`)))
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(form) ?? []
    const tapped = await fetch(`${link}/pay-with-test-bank`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie },
      body: new URLSearchParams({ token, choice }),
    })
    assert.equal(tapped.status, 303)
    // The bank's own notification may be first to ask, and then the page has not waited for the answer.
    await until(async () => (await statusOf(created.data.paymentId)) === status)
  }
  await prove()
})

test('a start with another port or another secret makes the rail agree', async () => {
  const rail = await sandboxRail({ ...gateway.config, railPort: port + 1 })
  assert(rail)
  const vault = makeVault(...loadMasterKeys(gateway.config))
  const parts = {
    rails: stores.rails,
    vault,
    clock: systemClock,
    random: (size: number) => Buffer.alloc(size, 9),
  }
  const other = { ...rail, secret: `whsec_${Buffer.alloc(32, 5).toString('base64')}` }
  await ensureTestBank(other, parts)
  await ensureTestBank(other, parts)
  const { rail: found, secrets } = await actingAs(operations, 'test').rails.showRail('test-bank')
  assert.deepEqual([found.url, secrets.length], [other.url, 1])
})
