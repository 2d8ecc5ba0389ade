// What readers and operators do about emails over HTTP: a consumer asks for a receipt, a reader switches a kind off, an
// operator looks and sends again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/callbacks.ts'
import { openCheckoutShop, Visitor } from '../support/checkout.ts'
import { signedInAs } from '../support/console.ts'
import { headerOf, startMailServer, textOf } from '../support/mail-server.ts'

const server = await startMailServer()
const shop = await openCheckoutShop({
  environment: {
    SMTP_URL: server.url,
    SMTP_FROM: 'Example Pay <no-reply@pay.test>',
    OPERATOR_EMAILS: 'ops@pay.test',
  },
})
const { gateway, clock } = shop
const { pool } = gateway

/** The gateway's own worker sends; the clock wakes it. */
async function received(to: string) {
  await until(() => {
    clock.advance(2_000)
    return server.received.some((mail) => mail.to === to)
  })
  return server.received.filter((mail) => mail.to === to)
}

interface Stored {
  email_id: string
  state: string
  recipient: string | null
}

async function stateOf(kind: string): Promise<Stored> {
  const { rows } = await pool.query<Stored>('select * from emails where kind = $1 order by email_id desc', [
    kind,
  ])
  assert.ok(rows[0])
  return rows[0]
}

test('a consumer who has paid gets a receipt once, and the address is forgotten', async () => {
  const order = await shop.order()
  const visitor = new Visitor(order)
  assert.doesNotMatch(await visitor.look(), /action="[^"]*\/receipt"/)
  await shop.pay(order, 'success')
  assert.match(await visitor.look('?lang=de'), /Beleg per E-Mail/)
  await visitor.post('receipt', { email: 'Mira@Example.com' })
  assert.match(await visitor.look(), /Ihr Beleg ist unterwegs/)
  await visitor.post('receipt', { email: 'mira@example.com' })
  const [mail, ...more] = await received('mira@example.com')
  assert.equal(more.length, 0)
  assert.match(textOf(mail?.raw ?? ''), /Sie haben am .* an Tea House bezahlt/)
  assert.match(textOf(mail?.raw ?? ''), new RegExp(order.paymentId))
  await until(async () => (await stateOf('receipt')).state === 'sent')
  const stored = await stateOf('receipt')
  assert.equal(stored.recipient, null)
  assert.doesNotMatch(JSON.stringify(stored), /mira/i)
})

test('a receipt is only for what was paid, for an address, and not without end', async () => {
  const order = await shop.order()
  const visitor = new Visitor(order)
  await visitor.look()
  await visitor.post('receipt', { email: 'early@example.com' })
  await shop.pay(order, 'success')
  await visitor.look('?lang=en')
  await visitor.post('receipt', { email: 'x@example.com\r\nBcc: y@example.com' })
  const page = await visitor.look()
  assert.match(page, /This email address is not valid/)
  assert.match(page, /<details class="fold receipt" open>/)
  for (let n = 0; n < 4; n++) await visitor.post('receipt', { email: `n${n}@example.com` })
  assert.match(await visitor.look(), /Too many receipts were requested/)
  const { rows } = await pool.query(
    "select recipient from emails where kind = 'receipt' and parameters ->> 'paymentId' = $1",
    [order.paymentId],
  )
  assert.equal(rows.length, 3)
})

test('one click stops a kind for its reader, and nobody else’s', async () => {
  const told = () =>
    gateway.operations.makeEmails('rail-paused', {
      parameters: { rail: 'bank', failure: 'timeout', until: 'soon' },
    })
  const { queueEmails } = await import('../../src/core/emails/store/queue-emails.ts')
  await queueEmails(pool, told())
  const [mail] = await received('ops@pay.test')
  const [, url = ''] = /<(.+)>/.exec(headerOf(mail?.raw ?? '', 'List-Unsubscribe') ?? '') ?? []
  assert.equal(headerOf(mail?.raw ?? '', 'List-Unsubscribe-Post'), 'List-Unsubscribe=One-Click')
  assert.equal(headerOf(mail?.raw ?? '', 'Auto-Submitted'), 'auto-generated')
  const link = url.replace(/^https?:\/\/[^/]+/, gateway.url)
  const asked = await fetch(link)
  assert.equal(asked.status, 200)
  assert.match(await asked.text(), /ops@pay\.test/)
  const optouts = async () => (await pool.query('select email, kind from email_optouts')).rows
  assert.deepEqual(await optouts(), [])

  const forged = link.replace('email=ops', 'email=eve')
  assert.equal((await fetch(forged, { method: 'POST' })).status, 404)
  assert.equal((await fetch(link.replace('rail-paused', 'rail-alert'), { method: 'POST' })).status, 404)
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })
  assert.equal((await fetch(link, { method: 'POST', body })).status, 200)
  const multipart = new FormData()
  multipart.set('List-Unsubscribe', 'One-Click')
  assert.equal((await fetch(link, { method: 'POST', body: multipart })).status, 200)
  assert.deepEqual(await optouts(), [{ email: 'ops@pay.test', kind: 'rail-paused' }])

  await queueEmails(pool, told())
  await until(async () => {
    clock.advance(2_000)
    const { rows } = await pool.query("select from emails where kind = 'rail-paused' and state = 'queued'")
    return rows.length === 0
  })
  assert.equal(server.received.filter(({ to }) => to === 'ops@pay.test').length, 1)
})

test('an operator sees what failed and sends it again; what carried a link is not sent again', async () => {
  server.refuse = (to) => (to.endsWith('gone.test') ? { code: 550, text: 'No such user' } : undefined)
  const { makeEmails } = gateway.operations
  const { queueEmails } = await import('../../src/core/emails/store/queue-emails.ts')
  const parameters = { merchant: 'M', amount: '1', time: 't', orderNo: 'o', paymentId: 'p' }
  await queueEmails(pool, [
    ...makeEmails('member-recovery', {
      to: { email: 'a@gone.test', language: 'en' },
      parameters: { until: 'x' },
      link: 'https://x.test',
    }),
    ...makeEmails('receipt', { to: { email: 'b@gone.test', language: 'en' }, parameters }),
  ])
  // As an email for an operator whose mailbox is gone.
  const [alert] = makeEmails('rail-alert', {
    parameters: { rail: 'bank', paymentId: 'p', amount: '1', happened: 'it came late' },
  })
  assert.ok(alert)
  await queueEmails(pool, [{ ...alert, recipient: 'c@gone.test' }])
  await until(async () => {
    clock.advance(2_000)
    const { rows } = await pool.query("select from emails where state = 'refused'")
    return rows.length === 3
  })
  const operator = await signedInAs(gateway, 'operator')
  const { text } = await operator.get('/emails?state=refused')
  assert.match(text, /550 No such user/)
  assert.equal(text.match(/action="\/emails\/[^"]+\/retry"/g)?.length, 1)
  const linked = await stateOf('member-recovery')
  const refused = await operator.told(
    `/emails/${linked.email_id}/retry`,
    { reason: 'test' },
    { on: '/emails' },
  )
  assert.match(refused, /This email cannot be resent/)

  server.refuse = () => undefined
  const { email_id } = await stateOf('rail-alert')
  assert.match(
    await operator.told(`/emails/${email_id}/retry`, { reason: 'mailbox is back' }, { on: '/emails' }),
    /The email will be resent/,
  )
  assert.equal((await received('c@gone.test')).length, 1)
  await until(async () => (await stateOf('rail-alert')).state === 'sent')
})
