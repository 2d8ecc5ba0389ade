import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseRailMessage, parseRailPaymentAnswer, signWebhook } from '@tillgate/protocol'
import { type Entry, makeBank } from '../../../../examples/rail/bank.ts'
import en from '../../locales/checkout/en.json' with { type: 'json' }
import { bankChoices } from '../../src/sandbox/test-bank.ts'
import { sandboxEnvironment } from '../support/gateway.ts'
import { lineWith, startProcess, temporaryFolder } from '../support/process.ts'
import {
  bankSecret,
  freePort,
  listenForNotifications,
  openTestBank,
  sendMessage,
  startMessage,
} from '../support/test-bank.ts'

/** The books alone, with a clock that is passed in. */
function openBooks() {
  const clock = { nowMs: 1_760_000_000_000 }
  const entries: Entry[] = []
  const parts = {
    url: 'https://bank.example',
    now: () => clock.nowMs,
    keep: (entry: Entry) => entries.push(entry),
  }
  const bank = makeBank({ ...parts, kept: [] })
  const ask = (message: object) => bank.answer(parseRailMessage(JSON.stringify(message)))
  const start = startMessage({ expiresAt: clock.nowMs + 900_000 })
  const { transactionId } = start
  ask(start)
  return {
    clock,
    bank,
    ask,
    start,
    status: () => ask({ type: 'payment.status', transactionId }),
    cancel: () => ask({ type: 'payment.cancel', transactionId }).status,
    choose: (choice: Parameters<typeof bank.choose>[1]) => bank.choose(transactionId, choice)?.status,
    refund: (refundId: string, amountMinor: string) =>
      ask({
        type: 'refund.start',
        refundId,
        transactionId,
        amount: (Number(amountMinor) / 100).toFixed(2),
        amountMinor,
        currency: 'EUR',
      }),
    reopened: () => makeBank({ ...parts, kept: entries }),
  }
}

test('a payment is pending until somebody chooses, and a repeated start answers what it has become', () => {
  const books = openBooks()
  const first = books.status()
  assert.equal(first.status, 'pending')
  assert.deepEqual(books.ask(books.start), first)
  assert.equal(books.choose('approve'), 'approved')
  assert.equal(books.ask({ ...books.start, amount: '99.00', amountMinor: '9900' }).status, 'approved')
  assert.equal(books.choose('decline'), undefined)
  assert.equal(books.cancel(), 'approved')
})

test('a slow payment is approved after 5 seconds to the millisecond, also by a bank that was restarted', () => {
  const books = openBooks()
  books.choose('delay')
  assert.equal(books.cancel(), 'submitted')
  books.clock.nowMs += 4_999
  assert.equal(books.status().status, 'submitted')
  books.clock.nowMs += 1
  assert.equal(books.status().status, 'approved')
  const { transactionId } = books.start
  assert.equal(books.reopened().payment(transactionId)?.status, 'approved')
})

test('a late payment is pending until the order ends or is cancelled, then approved', () => {
  const ended = openBooks()
  ended.choose('late')
  ended.clock.nowMs = ended.start.expiresAt - 1
  assert.equal(ended.status().status, 'pending')
  ended.clock.nowMs += 1
  assert.equal(ended.status().status, 'approved')
  const cancelled = openBooks()
  cancelled.choose('late')
  assert.equal(cancelled.cancel(), 'approved')
})

test('a payment that is never settled stays submitted until somebody decides', () => {
  const books = openBooks()
  books.choose('never')
  books.clock.nowMs += 30 * 86_400_000
  assert.equal(books.status().status, 'submitted')
  assert.equal(books.choose('decline'), 'declined')
})

test('refunds of a payment are at most what was paid, counted once by their id', () => {
  const books = openBooks()
  assert.equal(books.refund('R0', '1').status, 'declined')
  books.choose('approve')
  assert.equal(books.refund('R1', '1251').status, 'declined')
  assert.equal(books.refund('R2', '1000').status, 'approved')
  assert.equal(books.refund('R2', '1000').status, 'approved')
  assert.equal(books.refund('R3', '250').status, 'approved')
  assert.equal(books.refund('R4', '1').status, 'declined')
  assert.equal(books.ask({ type: 'refund.status', refundId: 'R3' }).status, 'approved')
  assert.equal(books.ask({ type: 'refund.status', refundId: 'R9' }).status, 'unknown')
})

test('refunds are slow or declined where the bank is told so', () => {
  const books = openBooks()
  books.choose('approve')
  books.bank.setRefundWay('delay')
  assert.equal(books.refund('R1', '100').status, 'submitted')
  books.clock.nowMs += 5_000
  assert.equal(books.refund('R1', '100').status, 'approved')
  books.bank.setRefundWay('decline')
  assert.equal(books.refund('R2', '100').status, 'declined')
  assert.equal(books.reopened().refundWay(), 'decline')
})

test('over HTTP: the page leads back, and the gateway is told by a signed notification, or by two', async () => {
  const bank = await openTestBank()
  const { notifyUrl, first } = await listenForNotifications()
  const start = startMessage({ notifyUrl })
  const { httpStatus, answer } = await bank.send(start)
  assert.equal(httpStatus, 200)
  const read = parseRailPaymentAnswer('payment.start', JSON.stringify(answer))
  assert(read.status === 'pending' && read.nextAction.kind === 'redirect')
  const page = await (await fetch(read.nextAction.url)).text()
  assert.match(page, /12\.50 <small>EUR/)
  assert.match(page, /Leaf &#38; Cup &#60;b&#62;/)
  const chosen = await bank.choose(start.transactionId, 'twice')
  assert.equal(chosen.status, 303)
  assert.equal(chosen.headers.get('location'), start.returnUrl)
  const notification = { type: 'payment.changed', transactionId: start.transactionId }
  assert.deepEqual(await first(2), [notification, notification])
  const status = await bank.send({ type: 'payment.status', transactionId: start.transactionId })
  assert.equal(status.answer.status, 'approved')
})

test('over HTTP: what is not signed, signed with another secret or long ago, or no message is refused', async () => {
  const bank = await openTestBank()
  const body = JSON.stringify(startMessage())
  const post = async (headers: Record<string, string>, text = body) =>
    (await fetch(bank.messagesUrl, { method: 'POST', headers, body: text })).status
  const signed = (secret: string, nowMs = Date.now(), text = body) =>
    post({ ...signWebhook({ id: 'a', body: text }, { secrets: [secret], nowMs }) }, text)
  assert.equal(await post({}), 401)
  assert.equal(await signed(`whsec_${Buffer.alloc(32).toString('base64')}`), 401)
  assert.equal(await signed(bankSecret, Date.now() - 400_000), 401)
  assert.equal(await signed(bankSecret, Date.now(), '{"type":"payment.begin"}'), 400)
  assert.equal(await signed(bankSecret, Date.now(), ' '.repeat(1_600_000)), 413)
  assert.equal(await signed(bankSecret), 200)
  assert.equal((await fetch(`${bank.url}/pay/T0`)).status, 404)
})

test('what can be chosen has one name at the bank and at the checkout', async () => {
  const bank = await openTestBank()
  const start = startMessage({ returnUrl: `${bank.url}/` })
  await bank.send(start)
  const text = await (await fetch(`${bank.url}/pay/${start.transactionId}`)).text()
  const buttons = [...text.matchAll(/<button name="choice" value="(\w+)"[^>]*>([^<]+)</g)]
  assert.deepEqual(
    buttons.map(([, choice, name]) => [choice, name]),
    bankChoices.map((choice) => [choice, en.testBank[choice]]),
  )
})

test('a bank that was killed in the middle of a line opens with all lines before it', async () => {
  const journalPath = join(temporaryFolder(), 'bank.jsonl')
  const first = await openTestBank({ journalPath })
  const start = startMessage()
  await first.send(start)
  first.close()
  appendFileSync(journalPath, '{"payment":{"transac')
  const second = await openTestBank({ journalPath })
  assert.equal((await second.send(start)).answer.status, 'pending')
  await second.choose(start.transactionId, 'decline')
  second.close()
  const third = await openTestBank({ journalPath })
  assert.equal((await third.send(start)).answer.status, 'declined')
})

test('beside a sandbox: it opens with the secret of sandbox-rail.json, knows its payments after a restart, and ends with the gateway', async () => {
  const environment = await sandboxEnvironment()
  const start = startMessage()
  for (const expected of ['pending', 'declined']) {
    const gateway = await startProcess({ ...environment, RAIL_PORT: String(await freePort()) })
    const { railUrl } = JSON.parse(await lineWith(gateway, 'the test bank is open'))
    const { secret } = JSON.parse(readFileSync(`${environment['DATA_DIR']}/sandbox-rail.json`, 'utf8'))
    const { answer } = await sendMessage(`${railUrl}/messages`, start, secret)
    assert.equal(answer.status, expected)
    await fetch(`${railUrl}/pay/${start.transactionId}`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ choice: 'decline' }),
    })
    gateway.child.kill('SIGTERM')
    assert.equal((await gateway.exited()).code, 0)
    await assert.rejects(fetch(railUrl))
  }
})

test('beside a sandbox: without its file there is no bank, the gateway goes on, and off is silent', async () => {
  const environment = await sandboxEnvironment()
  mkdirSync(`${environment['DATA_DIR']}/sandbox-rail.json`, { recursive: true })
  const gateway = await startProcess({ ...environment, RAIL_PORT: String(await freePort()) })
  assert.match(JSON.parse(await lineWith(gateway, 'there is no test bank')).reason, /EISDIR/)
  assert.equal((await fetch(`${gateway.publicUrl}/readyz`)).status, 200)
  const silent = await startProcess(await sandboxEnvironment())
  for (const { child, exited } of [gateway, silent]) {
    child.kill('SIGTERM')
    assert.equal((await exited()).code, 0)
  }
  assert.doesNotMatch(silent.output(), /test bank/)
})

test('the bank is less than 440 lines, its pages included, captures, disputes and style not', () => {
  const folder = join(import.meta.dirname, '../../../../examples/rail')
  const lines = ['bank.ts', 'main.ts', 'pages.ts', 'server.ts'].map(
    (name) => readFileSync(join(folder, name), 'utf8').split('\n').length - 1,
  )
  assert(lines.reduce((sum, each) => sum + each) < 440, String(lines))
})
