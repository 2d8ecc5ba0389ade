import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { checkConformance } from '../../src/finance/rails/conformance/check-conformance.ts'
import { postToRail } from '../../src/finance/rails/conformance/post-to-rail.ts'
import { until } from '../support/callbacks.ts'
import {
  bankSecret,
  freePort,
  listenForNotifications,
  sendMessage,
  startMessage,
} from '../support/test-bank.ts'

const script = join(import.meta.dirname, '../../../../examples/python/rail.py')
const isPythonThere = spawnSync('python3', ['--version']).status === 0
const skip = !isPythonThere && 'python3 is not on this machine'
const port = await freePort()
const url = `http://127.0.0.1:${port}/`

if (isPythonThere) await startRail()

async function startRail(): Promise<void> {
  const child = spawn('python3', [script, String(port)], {
    env: { PATH: process.env['PATH'], RAIL_SECRET: bankSecret },
    stdio: 'ignore',
  })
  after(() => child.kill())
  await until(async () => {
    assert.equal(child.exitCode, null)
    return isOpen()
  })
}

function isOpen(): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  )
}

const approve = (page: string) => fetch(page, { method: 'POST', redirect: 'manual' })

test('the rail in Python does all that the protocol says', { skip }, async () => {
  const { results } = await checkConformance({
    currencies: ['JPY', 'EUR', 'TND'],
    post: postToRail(url),
    secret: bankSecret,
    clock: { now: Date.now, wait: () => pause(20) },
    random: randomBytes,
    signal: new AbortController().signal,
    approvalWithinMs: 20_000,
    askForApproval: ({ nextAction }) => nextAction.kind === 'redirect' && void approve(nextAction.url),
  })
  assert.deepEqual(
    // It captures nothing.
    results.filter(({ outcome }) => outcome !== 'passed').map(({ outcome, found }) => [outcome, found]),
    Array(2).fill(['skipped', 'it captures nothing']),
  )
})

test('its page shows what is paid and leads back, and its notification is signed', { skip }, async () => {
  const { notifyUrl, first } = await listenForNotifications()
  const start = startMessage({ notifyUrl })
  const { answer } = await sendMessage(url, start)
  assert.equal(answer.status, 'pending')
  const page = `http://localhost:${port}/pay/${start.transactionId}`
  assert.match(await (await fetch(page)).text(), /Pay 12\.50 EUR to Leaf &amp; Cup &lt;b&gt;/)
  const { status, headers } = await approve(page)
  assert.deepEqual([status, headers.get('location')], [303, start.returnUrl])
  assert.deepEqual(await first(1), [{ type: 'payment.changed', transactionId: start.transactionId }])
})
