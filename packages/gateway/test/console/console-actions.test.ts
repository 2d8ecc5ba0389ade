// Callbacks, merchants, wallets, the ledger, the audit log and the system page of the console: what they show, every
// act with its record, every role's limits, and secrets that are shown once.

import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { makeUuid, parseAesKey, sealRequest } from '@tillgate/protocol'
import { actingAs } from '../support/acting.ts'
import { type OpenOrder, openCheckoutShop } from '../support/checkout.ts'
import { type ConsoleAnswer, ConsoleClient, type Fields, signedInAs } from '../support/console.ts'
import { createBody } from '../support/order.ts'
import { insertPastOrders } from '../support/past-orders.ts'

const shop = await openCheckoutShop()
const { gateway, clock, merchant } = shop
const { pool } = gateway
const admin = new ConsoleClient(gateway)
await admin.signIn()

const viewer = await signedInAs(gateway, 'viewer')
const operator = await signedInAs(gateway, 'operator')

const note = (client: ConsoleClient, path: string, fields: Fields) => client.told(path, fields)

function secretOf({ status, text }: ConsoleAnswer, pattern: RegExp): string {
  assert.equal(status, 200)
  const found = [...text.matchAll(/<p class="secret"><code>([^<]+)<\/code>/g)].map(
    ([, secret = '']) => secret,
  )
  const secret = found.find((each) => pattern.test(each))
  assert(secret, text)
  return secret
}

async function lastAct(): Promise<string> {
  const { rows } = await pool.query<{ what: string }>(
    "select act || ' ' || subject || ' by ' || actor || coalesce(': ' || reason, '') as what from audit order by acted_at desc, audit_id desc limit 1",
  )
  return rows[0]?.what ?? ''
}

const base64Key = /^[A-Za-z0-9+/]{43}=$/

test('a merchant is signed on, and its key is shown this once', async () => {
  clock.advance(1_000)
  const form = {
    name: 'Leaf <& Cup>',
    callbackHosts: 'Leaf.example, ',
    requestsPerSecond: '7',
    formId: makeUuid(clock.now(), randomBytes),
  }
  const made = await admin.post('/merchants', form)
  const key = secretOf(made, base64Key)
  const merchantId = secretOf(made, /^\d{18}$/)
  assert.match(made.text, /TILLGATE_PLATFORM_PUBLIC_KEY=MII/)
  assert.equal(await lastAct(), `merchant.add ${merchantId} by console:admin@127.0.0.1`)
  const [again, other] = [await admin.post('/merchants', form), { ...form, name: 'Another' }]
  assert.deepEqual([secretOf(again, base64Key), secretOf(again, /^\d{18}$/)], [key, merchantId])
  assert.match(await note(admin, '/merchants', other), /already sent with other values/)
  const { rowCount } = await gateway.pool.query("select from merchants where name like 'Leaf <%'")
  assert.equal(rowCount, 1)
  clock.advance(10 * 60_000)
  assert.match(await note(admin, '/merchants', form), /already ran at .* shown only once/)
  const page = await admin.get(`/merchants/${merchantId}`)
  assert.match(page.text, /Leaf &lt;&amp; Cup&gt;/)
  assert.match(page.text, /leaf\.example/)
  for (const path of ['/merchants', `/merchants/${merchantId}`, '/audit'])
    assert.ok(!(await admin.get(path)).text.includes(key), path)
})

test('a merchant of another implementation brings its id, which takes payments and is nobody else’s', async () => {
  const merchantId = 'M2o8xQ4ZpL0000aBc9'
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const given = {
    name: 'Moved',
    merchantId,
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  }
  const formId = () => makeUuid(clock.now(), randomBytes)
  const key = secretOf(await admin.post('/merchants', { ...given, formId: formId() }), base64Key)
  const envelope = await sealRequest(
    {
      merchantId,
      method: 'service.trade.create',
      timestamp: clock.now(),
      body: JSON.stringify(createBody({ now: clock.now() })),
    },
    { aesKey: parseAesKey(key), privateKey },
  )
  const response = await fetch(`${gateway.url}/api/v1/gateway`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(envelope),
  })
  const { data, msg } = (await response.json()) as { data: { checkoutUrl: string }; msg: string }
  assert.equal(msg, 'SUCCESS')
  const { pathname } = new URL(data.checkoutUrl)
  assert.equal((await fetch(gateway.url + pathname)).status, 200)
  assert.match(
    await note(admin, '/merchants', { ...given, formId: formId() }),
    /Merchant M2o8xQ4ZpL0000aBc9 already exists/,
  )
  for (const wrong of ['M2o8xQ4ZpL0000aBc', 'M2o8xQ4ZpL0000aBc99', 'M2o8xQ4ZpL0000aB-9'])
    assert.match(await note(admin, '/merchants', { ...given, merchantId: wrong }), /18 letters or digits/)
})

test('what cannot be is refused in words: names, rates, colours, keys', async () => {
  for (const [fields, why] of [
    [{ name: ' ' }, /Enter a value for “Name/],
    [{ name: 'x', requestsPerSecond: '0' }, /whole number from 1/],
    [{ name: 'x', accentColour: 'greenish' }, /color such as #1f6f5c/],
    [{ name: 'x', publicKey: 'nonsense' }, /key/],
  ] as const)
    assert.match(await note(admin, '/merchants', fields), why)
})

test('settings, suspension and resumption reach the merchant’s requests', async () => {
  const path = `/merchants/${merchant.merchantId}`
  assert.match(
    await note(admin, `${path}/change`, { name: 'Tea Palace', accentColour: '#AA0000' }),
    /Enter a value for “Reason/,
  )
  clock.advance(1_000)
  assert.match(
    await note(admin, `${path}/change`, {
      name: 'Tea Palace',
      accentColour: '#AA0000',
      reason: 'a new brand',
    }),
    /were changed/,
  )
  assert.match(
    await lastAct(),
    /^merchant\.change \d+ by console:admin@127\.0\.0\.1: name from "[^"]+" to "Tea Palace"; accentColour from the default to "#aa0000": a new brand$/,
  )
  assert.match((await admin.get(path)).text, /Tea Palace.*#aa0000/s)
  clock.advance(10_000)
  await note(admin, `${path}/suspend`, { reason: 'fraud' })
  assert.equal(await lastAct(), `merchant.suspend ${merchant.merchantId} by console:admin@127.0.0.1: fraud`)
  clock.advance(10_000)
  assert.equal((await merchant.call('service.trade.query', { orderNo: 'x' })).code, 40300)
  await note(admin, `${path}/resume`, { reason: 'cleared' })
  clock.advance(10_000)
  assert.equal((await merchant.call('service.trade.query', { orderNo: 'x' })).code, 40400)
})

test('a form that names a page by characters that no address has is answered with its own page', async () => {
  const page = `/merchants/${merchant.merchantId}`
  for (const from of ['/orders?q=日本', '/merchants/日本', '/orders?\r\nx: y', '/orders?a b']) {
    const fields = { reason: 'test', from }
    for (const act of ['suspend', 'resume'])
      assert.equal((await admin.post(`${page}/${act}`, fields, { on: page })).location, page, from)
  }
})

test('keys are added beside the old ones, at most two of a kind, and revoked', async () => {
  const other = await gateway.addMerchant()
  const path = `/merchants/${other.merchantId}`
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  assert.match(await note(admin, `${path}/keys/rsa`, { publicKey: pem, reason: 'new' }), /is active/)
  assert.match(
    await note(admin, `${path}/keys/rsa`, { publicKey: pem, reason: 'new' }),
    /already has two active rsa keys/,
  )
  clock.advance(1)
  secretOf(await admin.post(`${path}/keys/aes`, { reason: 'new' }), base64Key)
  assert.match(await note(admin, `${path}/keys/aes`, { reason: 'new' }), /already has two active aes keys/)
  const page = (await admin.get(path)).text
  assert.match(page, /AES key rotation in progress. Next step: The merchant adds key/)
  const { keys } = await gateway.merchants.showMerchant(other.merchantId)
  const [oldKey, newKey] = keys.filter(({ kind }) => kind === 'aes')
  const keyId = oldKey?.keyId
  assert.match(
    await note(admin, `${path}/keys/${keyId}/revoke`, { reason: 'rotated' }),
    /was not revoked, because it is still needed\. Callbacks are encrypted with this key/,
  )
  assert.doesNotMatch(page, new RegExp(`keys/${keyId}/use-for-callbacks`), 'it seals callbacks already')
  assert.match(
    await note(admin, `${path}/keys/${newKey?.keyId}/use-for-callbacks`, { reason: 'installed' }),
    /Callbacks are encrypted with key/,
  )
  assert.match(await note(admin, `${path}/keys/${keyId}/revoke`, { reason: 'rotated' }), /is revoked/)
  assert.match(await note(admin, `${path}/keys/${keyId}/revoke`, { reason: 'again' }), /has no active key/)
  assert.match((await admin.get(path)).text, /Revoked/)
})

test('a payout is held in the wallet, too much is refused, and the statement has what has left', async () => {
  const order = await shop.order()
  await shop.pay(order, 'success')
  const path = `/merchants/${merchant.merchantId}`
  clock.advance(1_000)
  const payout = (amount: string, currency = 'usd') =>
    note(admin, `${path}/payout`, {
      amount,
      currency,
      reason: 'weekly',
      formId: makeUuid(clock.now(), randomBytes),
    })
  assert.match(await payout('1000000'), /balance is only/)
  assert.match(await payout('2.505'), /digits|decimal/)
  assert.match(await payout('2.50', 'XXQ'), /ISO 4217/)
  assert.match(await payout('2.50'), /is held for payout T\w+ to merchant/)
  assert.equal(await lastAct(), `merchant.payout ${merchant.merchantId} by console:admin@127.0.0.1: weekly`)
  assert.match((await admin.get(path)).text, /10\.00&nbsp;USD/)
  const today = new Date(clock.now()).toISOString().slice(0, 10)
  const { text, headers } = await admin.get(`${path}/statement.csv?from=${today}&to=${today}`)
  assert.match(headers.get('content-disposition') ?? '', /statement-\d{18}\.csv/)
  const lines = text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))
  assert.deepEqual(
    lines.map((cells) => [cells[1], cells[8]]),
    [
      ['kind', 'amount'],
      ['opening', '0.00'],
      ['payment', '12.50'],
      ['closing', '12.50'],
    ],
  )
  assert.equal((await admin.get('/merchants/000000000000000000/statement.csv')).status, 404)
})

test('a payout form that is sent twice, at once or again, pays out once', async () => {
  const order = await shop.order()
  await shop.pay(order, 'success')
  const path = `/merchants/${merchant.merchantId}/payout`
  const form = {
    amount: '1.25',
    currency: 'USD',
    reason: 'twice',
    formId: makeUuid(clock.now(), randomBytes),
  }
  // A minute after it was loaded: the audit has it at the time when it was done.
  clock.advance(60_000)
  await Promise.all([note(admin, path, form), note(admin, path, form)])
  assert.equal(await lastAct(), `merchant.payout ${merchant.merchantId} by console:admin@127.0.0.1: twice`)
  const { rows } = await pool.query<{ audit_id: string }>(
    'select audit_id from audit order by audit_id desc limit 1',
  )
  const madeAtMs = Number.parseInt((rows[0]?.audit_id ?? '').replace('-', '').slice(0, 12), 16)
  assert.equal(madeAtMs, clock.now())
  const at = new Date(clock.now()).toISOString().slice(0, 19).replace('T', ' ')
  clock.advance(1_000)
  const again = `This was already done at ${at} UTC. Nothing was done again.`
  assert.match(await note(admin, path, form), new RegExp(again))
  const { rowCount } = await pool.query("select from transfers where kind = 'payout' and amount_minor = 125")
  assert.equal(rowCount, 1)
  assert.match(await note(admin, path, { ...form, amount: '1.26' }), /already sent with other values/)
  // The id of something that was done is no form's number: nobody is told that money moved which did not.
  assert.match(await note(admin, path, { ...form, formId: rows[0]?.audit_id ?? '' }), /is held for payout/)
  const { rowCount: both } = await pool.query(
    "select from transfers where kind = 'payout' and amount_minor = 125",
  )
  assert.equal(both, 2)
  const runs = await pool.query('select from payout_runs where sent_at is null')
  assert((await admin.get('/overview')).text.includes(`Payout runs to send: ${runs.rowCount}`))
})

test('callbacks are listed and opened, and sent again one by one and all that fit', async () => {
  const { text } = await admin.get('/callbacks')
  assert.match(text, /payment\.order\.success/)
  const [, callbackId = ''] = /href="\/callbacks\/([0-9a-f-]{36})"/.exec(text) ?? []
  // Delivery goes on meanwhile, to an address that refuses: only a tried callback can be sent again.
  for (let tries = 0; tries < 2_000; tries++) {
    const { rows } = await pool.query('select from callbacks where callback_id = $1 and attempts_made > 0', [
      callbackId,
    ])
    if (rows.length === 1) break
  }
  const page = await admin.get(`/callbacks/${callbackId}`)
  assert.match(page.text, /&quot;paymentAmount&quot;/)
  assert.match(page.text, /Attempts, oldest first/)
  clock.advance(1_000)
  assert.match(
    await note(operator, `/callbacks/${callbackId}/resend`, { reason: 'asked' }),
    /will be resent now|already queued/,
  )
  assert.match(await note(operator, '/callbacks/resend', { reason: 'all' }), /Filter by at least one field/)
  assert.match(
    await note(operator, '/callbacks/resend', {
      merchantId: merchant.merchantId,
      state: 'waiting',
      reason: 'night',
    }),
    /\d+ of \d+ callbacks will be resent/,
  )
  assert.equal((await admin.get('/callbacks/00000000-0000-7000-8000-000000000000')).status, 404)
  assert.equal((await admin.get('/callbacks/x')).status, 404)
})

test('ticked callbacks are sent again, those and no others, each with a record of its own', async () => {
  const paymentIds = await insertPastOrders(
    pool,
    Array.from({ length: 3 }, (_, index) => ({
      merchantId: merchant.merchantId,
      status: 'timeout' as const,
      createdAtMs: clock.now() - 60_000 + index,
      callback: { host: 'ticked.example', deliveredAfterMs: 50 },
    })),
  )
  const { text } = await operator.get('/callbacks?host=ticked.example')
  const boxes = [...text.matchAll(/type="checkbox" name="callback" value="([^"]+)" form="ticked"/g)].map(
    ([, value = '']) => value,
  )
  assert.equal(boxes.length, paymentIds.length)
  assert.match(text, /<form method="post" action="\/callbacks\/resend-ticked" class="stack" id="ticked">/)
  assert.doesNotMatch((await viewer.get('/callbacks')).text, /type="checkbox"/)
  const ticked = boxes.slice(0, 2)
  const path = '/callbacks/resend-ticked'
  for (const [fields, why] of [
    [{ reason: 'x' }, /Enter a value for “Callback/],
    [{ callback: ticked, reason: ' ' }, /Enter a value for “Reason/],
    [{ callback: [...ticked, "' or 1=1"], reason: 'x' }, /each item is a callback of the list/],
    [{ callback: Array(51).fill(boxes[0]), reason: 'x' }, /must be a list of at most 50/],
  ] as const)
    assert.match(await note(operator, path, fields), why)
  clock.advance(1_000)
  const stranger = `${merchant.merchantId}:00000000-0000-7000-8000-000000000000`
  assert.match(
    await note(operator, path, { callback: [...ticked, stranger], reason: 'by hand' }),
    /2 of 3 callbacks will be resent. The others/,
  )
  const { rows: resent } = await pool.query<{ callback_id: string }>(
    "select callback_id from callbacks where host = 'ticked.example' and resent_at is not null",
  )
  const wanted = ticked.map((value) => value.split(':')[1])
  assert.deepEqual(resent.map((row) => row.callback_id).sort(), wanted.toSorted())
  const { rows: acts } = await pool.query<{ subject: string }>(
    "select subject from audit where act = 'callback.resend' and reason = 'by hand' and merchant_id = $1",
    [merchant.merchantId],
  )
  assert.deepEqual(acts.map(({ subject }) => subject).sort(), wanted.toSorted())
})

test('a host with few callbacks is found among many, a stretch at a time', async () => {
  const at = (host: string, createdAtMs: number) => ({
    merchantId: merchant.merchantId,
    status: 'timeout' as const,
    createdAtMs,
    callback: { host, deliveredAfterMs: 50 },
  })
  const startMs = clock.now() - 3_600_000
  await insertPastOrders(pool, [
    at('rare.example', startMs - 1),
    ...Array.from({ length: 10_000 }, (_, index) => at('many.example', startMs + index)),
  ])
  const { text } = await operator.get('/callbacks?host=rare.example')
  assert.match(text, /No match among the callbacks searched so far/)
  assert.match(text, /Searched callbacks back to \d{4}-/)
  const [, next = ''] = /rel="next" href="([^"]+)"/.exec(text) ?? []
  const found = await operator.get(next.replaceAll('&amp;', '&'))
  assert.equal([...found.text.matchAll(/type="checkbox" name="callback"/g)].length, 1)
  assert.doesNotMatch(found.text, /Searched callbacks/)
  assert.match((await operator.get('/callbacks?host=many.example')).text, /rel="next"/)
})

test('a paused host gets nothing until it is resumed, and others get theirs meanwhile', async () => {
  const attemptsOf = async ({ paymentId }: OpenOrder): Promise<number> => {
    const { rows } = await pool.query<{ attempts: string }>(
      'select count(*) as attempts from callback_attempts join callbacks using (merchant_id, callback_id) where payment_id = $1',
      [paymentId],
    )
    return Number(rows[0]?.attempts)
  }
  const paidOrderTo = async (host: string): Promise<OpenOrder> => {
    const order = await shop.order((body) => {
      body.callbackUrl = `http://${host}/callbacks`
    })
    await shop.pay(order, 'success')
    return order
  }
  const untilAttempted = async (order: OpenOrder): Promise<void> => {
    for (let tries = 0; tries < 2_000 && (await attemptsOf(order)) === 0; tries++) clock.advance(1_000)
    assert.ok((await attemptsOf(order)) > 0)
  }
  await note(operator, '/callbacks/hosts/pause', { host: '127.0.0.1:11', minutes: '1440', reason: 'test' })
  const waiting = await paidOrderTo('127.0.0.1:11')
  await untilAttempted(await paidOrderTo('127.0.0.1:12'))
  assert.equal(await attemptsOf(waiting), 0)
  await note(operator, '/callbacks/hosts/resume', { host: '127.0.0.1:11', reason: 'test' })
  await untilAttempted(waiting)
})

test('pausing and resuming a host is on record and on the page', async () => {
  clock.advance(1_000)
  const paused = { host: 'Shop.example:8443', minutes: '15', reason: 'maintenance' }
  assert.match(
    await note(operator, '/callbacks/hosts/pause', paused),
    /No callback is sent to shop\.example:8443/,
  )
  assert.equal(
    await lastAct(),
    'callback-host.pause shop.example:8443 by console:operator@127.0.0.1: maintenance',
  )
  assert.match(
    (await admin.get('/callbacks')).text,
    /shop\.example:8443.*paused by console:operator@127\.0\.0\.1: maintenance.*for 15 min/s,
  )
  for (const wrong of ['9999', '0', '0.5', '1.5', 'x'])
    assert.match(
      await note(operator, '/callbacks/hosts/pause', { ...paused, minutes: wrong }),
      /whole number from 1 to 1440/,
      wrong,
    )
  assert.match(
    await note(operator, '/callbacks/hosts/pause', { ...paused, host: 'a b' }),
    /written as in a callbackUrl/,
  )
  clock.advance(1_000)
  assert.match(
    await note(operator, '/callbacks/hosts/resume', { host: 'shop.example:8443', reason: 'back' }),
    /are sent now/,
  )
  assert.match(
    await note(operator, '/callbacks/hosts/resume', { host: 'shop.example:8443', reason: 'back' }),
    /Neither shop\.example:8443 nor a destination there is paused or failing/,
  )
})

test('a wallet is added, topped up, locked and unlocked', async () => {
  const added = await admin.post('/wallets', { login: '+49 151 1234567', name: 'Nia', reason: 'new' })
  const pin = secretOf(added, /^\d{6}$/)
  const list = await admin.get('/wallets?q=nia')
  const [, walletId = ''] = /href="\/wallets\/([0-9a-f-]{36})"/.exec(list.text) ?? []
  const path = `/wallets/${walletId}`
  clock.advance(1_000)
  assert.match(
    await note(admin, `${path}/top-up`, {
      amount: '1234.5',
      currency: 'EUR',
      reason: 'gift',
      formId: makeUuid(clock.now(), randomBytes),
    }),
    /were added to the wallet/,
  )
  assert.equal(await lastAct(), `wallet.top-up ${walletId} by console:admin@127.0.0.1: gift`)
  assert.match(await note(operator, `${path}/lock`, { reason: 'stolen' }), /is locked/)
  const page = await admin.get(path)
  assert.match(page.text, /1,234\.50&nbsp;EUR/)
  assert.ok(!page.text.includes(pin))
  assert.match(await note(operator, `${path}/unlock`, { reason: 'found' }), /is active/)
})

test('lines with commas stay as they are when a form is filled in, and when it is sent as it was', async () => {
  const as = actingAs(gateway.operations, 'test')
  const lines = ['Account 12345678', '12 High Street, London']
  const bank = '/money/banks/street'
  const given = { bankName: 'street', holder: 'Example Ltd', lines: lines.join('\r\n'), reason: 'test' }
  assert.match(await note(admin, '/money/banks', given), /was added/)
  assert.deepEqual((await as.banks.showBank('street')).bank.lines, lines)
  const shown = await fieldsOn(bank, `${bank}/change`)
  await note(admin, `${bank}/change`, { ...shown, holder: 'New Ltd', reason: 'test' })
  const { holder, lines: kept } = (await as.banks.showBank('street')).bank
  assert.deepEqual([holder, kept], ['New Ltd', lines])

  const rail = {
    railId: 'street',
    name: 'Bank transfer',
    currencies: 'USD, EUR',
    holder: 'Example Ltd',
    lines: 'Account number=12345678\nBank=Example Bank, London',
    names: 'de=Überweisung, sofort\nfr=Virement',
    reason: 'test',
  }
  assert.match(await note(admin, '/rails/transfer', rail), /within 5 seconds/)
  for (const form of ['account', 'change'])
    await note(admin, `/rails/street/${form}`, {
      ...(await fieldsOn('/rails/street', `/rails/street/${form}`)),
      reason: 'test',
    })
  const { rail: found } = await as.rails.showRail('street')
  assert.deepEqual(found.account?.lines[1], { label: 'Bank', value: 'Example Bank, London' })
  assert.deepEqual(found.names, { de: 'Überweisung, sofort', fr: 'Virement' })
  assert.deepEqual(found.currencies, ['USD', 'EUR'])
  const emptied = { ...(await fieldsOn('/rails/street', '/rails/street/change')), names: '', reason: 'test' }
  await note(admin, '/rails/street/change', emptied)
  assert.deepEqual((await as.rails.showRail('street')).rail.names, {})
})

test('a price begins and ends on the day that is chosen in its form, or in a minute', async () => {
  const { prices } = actingAs(gateway.operations, 'test')
  const { text } = await admin.get('/money/fees')
  assert.equal(text.match(/<input name="fromMs" type="date"/g)?.length, 2)
  const { merchantId } = await gateway.addMerchant({ name: 'Priced' })
  const day = new Date(clock.now() + 2 * 86_400_000).toISOString().slice(0, 10)
  const price = { merchantId, basisPoints: '100', refunds: 'keep', reason: 'test' }
  assert.match(
    await note(admin, '/money/prices', { ...price, fromMs: day }),
    new RegExp(`takes effect on ${day} 00:00:00`),
  )
  assert.match(await note(admin, '/money/prices', { ...price, fromMs: '' }), /takes effect/)
  const end = { merchantId, reason: 'test' }
  const last = new Date(clock.now() + 3 * 86_400_000).toISOString().slice(0, 10)
  assert.match(
    await note(admin, '/money/prices/end', { ...end, fromMs: last }),
    new RegExp(`at ${last} 00:00:00`),
  )
  assert.deepEqual(
    (await prices.listPrices(merchantId, 10)).map(({ validFromMs }) => validFromMs),
    [Date.parse(last), Date.parse(day), clock.now() + 60_000],
  )
  for (const wrong of ['2026-11-01', '2027-02-31', '0000-01-01'])
    assert.match(
      await note(admin, '/money/prices', { ...price, fromMs: wrong }),
      /Nothing was changed/,
      wrong,
    )
})

/** What a form of the page is filled in with. */
async function fieldsOn(page: string, action: string): Promise<Record<string, string>> {
  const { text } = await admin.get(page)
  const [, form = ''] = new RegExp(`action="${action}"(.*?)</form>`, 's').exec(text) ?? []
  const texts = form.matchAll(/<input(?! type="hidden") name="([^"]+)"[^>]* value="([^"]*)"/g)
  const areas = form.matchAll(/<textarea name="([^"]+)"[^>]*>([^<]*)</g)
  return Object.fromEntries([...texts, ...areas].map(([, name = '', value = '']) => [name, value]))
}

test('the ledger shows the trial balance and proves itself on demand, also when it is wrong', async () => {
  assert.match((await admin.get('/ledger')).text, /Debits equal credits in every currency.*USD/s)
  assert.match((await operator.post('/ledger/verify', {})).text, /The ledger is clean/)
  await pool.query(
    "update accounts set debits_posted = debits_posted + 1 where owner_kind = 'bank' and currency = 'EUR'",
  )
  assert.match((await admin.get('/ledger')).text, /Debits and credits differ/)
  assert.match((await operator.post('/ledger/verify', {})).text, /NOT clean.*bank:main:EUR/s)
  await pool.query(
    "update accounts set debits_posted = debits_posted - 1 where owner_kind = 'bank' and currency = 'EUR'",
  )
})

test('the audit log tells who, from where, what and why, and is filtered', async () => {
  const { text } = await admin.get('/audit?act=payout')
  assert.match(text, /admin<\/span>.*console · 127\.0\.0\.1.*title="merchant\.payout".*weekly/s)
  assert.doesNotMatch(text, /title="wallet\.lock"/)
  assert.match((await admin.get('/audit?actor=operator')).text, /title="wallet\.lock"/)
  assert.match((await admin.get('/audit?actor=nobody')).text, /No matching entry/)
  assert.match((await admin.get('/audit?reason=WEEKLY')).text, /title="merchant\.payout"/)
  assert.doesNotMatch((await admin.get('/audit?reason=WEEKLY')).text, /title="wallet\.lock"/)
  const locked = await admin.get('/audit?act=wallet.lock')
  assert.match(locked.text, /Locked a wallet<\/span><\/td>[^\n]*href="\/wallets\//)
})

test('the audit log is filtered by days and exported as it is filtered', async () => {
  const { rows: entries } = await pool.query<{ acted_at: string }>(
    "select acted_at from audit where act = 'merchant.payout'",
  )
  const days = entries.map((entry) => new Date(Number(entry.acted_at)).toISOString().slice(0, 10)).sort()
  const [first = '', last = ''] = [days[0], days.at(-1)]
  const inside = `act=merchant.payout&from=${first}&to=${last}`
  assert.match((await admin.get(`/audit?${inside}`)).text, /merchant\.payout/)
  const { text, headers } = await admin.get(`/audit.csv?${inside}`)
  assert.match(headers.get('content-disposition') ?? '', /audit-\d{4}-\d\d-\d\d\.csv/)
  const [heads, ...lines] = text.trimEnd().split('\r\n')
  assert.equal(heads, 'time,actor,action,subject,merchantId,reason,auditId')
  assert.equal(lines.length, entries.length)
  assert(lines.every((line) => /,console:admin@127\.0\.0\.1,merchant\.payout,/.test(line)))
  const before = new Date(Date.parse(first) - 86_400_000).toISOString().slice(0, 10)
  assert.match((await admin.get(`/audit?act=payout&to=${before}`)).text, /No matching entry/)
  const after = new Date(Date.parse(last) + 86_400_000).toISOString().slice(0, 10)
  assert.match((await admin.get(`/audit?act=payout&from=${after}`)).text, /No matching entry/)
})

test('the system page tells how the gateway does', async () => {
  const { text } = await admin.get('/system')
  for (const shown of [/PostgreSQL/, /Migrations/, /Callback delivery/, /sandbox/, /v24\./])
    assert.match(text, shown)
})

test('each role is held to its limits, also by hand-made requests', async () => {
  const merchantPath = `/merchants/${merchant.merchantId}`
  const forOperators = [
    '/callbacks/resend',
    '/callbacks/resend-ticked',
    '/callbacks/hosts/pause',
    '/callbacks/hosts/resume',
    '/callbacks/x/resend',
    '/ledger/verify',
    '/wallets/x/lock',
    '/wallets/x/unlock',
  ]
  const forAdmins = [
    '/merchants',
    ...[
      'change',
      'suspend',
      'resume',
      'keys/aes',
      'keys/rsa',
      'keys/x/revoke',
      'keys/x/use-for-callbacks',
      'payout',
    ].map((act) => `${merchantPath}/${act}`),
    '/wallets',
    '/wallets/x/top-up',
  ]
  const { rows: before } = await pool.query('select from audit')
  const fields = {
    name: 'x',
    reason: 'x',
    host: 'h',
    minutes: '60',
    amount: '1',
    currency: 'USD',
    login: 'x@y.example',
  }
  for (const path of [...forOperators, ...forAdmins])
    assert.equal((await viewer.post(path, fields)).status, 403, path)
  for (const path of forAdmins) assert.equal((await operator.post(path, fields)).status, 403, path)
  const { rows: after } = await pool.query('select from audit')
  assert.equal(after.length, before.length)
  for (const path of [
    '/orders',
    '/callbacks',
    '/merchants',
    merchantPath,
    '/wallets',
    '/ledger',
    '/audit',
    '/system',
  ]) {
    const page = await viewer.get(path)
    assert.equal(page.status, 200, path)
    assert.doesNotMatch(page.text, /class="act"/, path)
  }
})
