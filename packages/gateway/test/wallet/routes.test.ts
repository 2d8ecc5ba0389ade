// Every page and form of the wallet, as its table names them: without a session, with a form that is not ours, and with another
// wallet's thing, which is answered as what does not exist. A route that comes without its row here fails.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { walletRoutes } from '../../src/adapters/wallet/routes.ts'
import { prefix } from '../../src/adapters/wallet/wallet.ts'
import { testWalletPin } from '../../src/sandbox/test-wallets.ts'
import { actingAs } from '../support/acting.ts'
import { startTestGateway } from '../support/gateway.ts'
import { consumerOf, testPin, WalletClient } from '../support/wallet.ts'

const gateway = await startTestGateway()
const own = await consumerOf(gateway, { minor: 2_500n })
const other = await consumerOf(gateway, { minor: 5_000n })
const [entry] = await gateway.stores.walletHistory.list(other.walletId, { limit: 1 })
const [session] = await gateway.operations.walletSessions.list(other.walletId)
assert(entry && session)
const passkey = randomBytes(32)
await gateway.pool.query(
  `insert into passkeys (credential_id, account_kind, account, name, public_key, sign_count, last_challenge_at, created_at)
   values ($1, 'wallet', $2, 'phone', '', 0, 0, 0)`,
  [passkey, other.login],
)

/** Of each parameter: another wallet's thing, and one that nobody has. */
const things: Readonly<Record<string, readonly [others: string, nobodys: string]>> = {
  key: [`${entry.madeAtMs}-${entry.transferId}`, `${entry.madeAtMs}-T01ARZ3NDEKTSV4RRFFQ69G5FAV`],
  credentialId: [passkey.toString('base64url'), randomBytes(32).toString('base64url')],
}
const filled = (path: string) => path.replace(/:(\w+)/, (_, name: string) => things[name]?.[0] ?? '')

/** What a form is sent with, with another wallet's thing where it takes one. */
const fields: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/scan': { content: 'x' },
  '/top-up': { amount: '1', currency: 'EUR' },
  '/withdraw': { amount: '1', currency: 'EUR', iban: 'DE89370400440532013000' },
  '/withdraw/confirm': { amount: '1', currency: 'EUR', iban: 'DE89370400440532013000', pin: testPin },
  '/pin': { pin: testPin, new: testPin, again: testPin },
  '/language': { language: 'de' },
  '/devices/end': { session: session.sessionId },
  '/devices/end-all': {},
  '/close': { pin: testPin },
  '/sign-out': {},
  '/passkeys/begin': { pin: testPin },
  '/passkeys/add': { name: 'x', credential: '{}' },
  '/passkeys/:credentialId/remove': { pin: testPin },
}
const posts = walletRoutes.flatMap((route) => ('act' in route ? [route.path] : []))
const gets = walletRoutes.flatMap((route) => ('show' in route ? [route.path] : []))

async function state(): Promise<unknown> {
  const { rows } = await gateway.pool.query(
    `select w.*, (select count(*) from payouts) as payouts, (select count(*) from orders) as orders,
            (select count(*) from wallet_sessions s where s.wallet_id = w.wallet_id) as sessions,
            (select count(*) from passkeys p where p.account = w.login) as passkeys
       from wallets w where wallet_id = any ($1) order by wallet_id`,
    [[own.walletId, other.walletId]],
  )
  return rows
}

test('every route has a row here, and every row a route', () => {
  const params = walletRoutes.flatMap(({ path }) => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name))
  assert.deepEqual([...new Set(params)].sort(), Object.keys(things).sort())
  assert.deepEqual([...posts].sort(), Object.keys(fields).sort())
})

test('without a session every page and every form leads to the sign-in', async () => {
  const nobody = new WalletClient(gateway)
  const before = await state()
  for (const path of gets) {
    const answer = await nobody.get(prefix + filled(path))
    assert.deepEqual([answer.status, answer.location?.split('?')[0]], [303, '/wallet/sign-in'], path)
  }
  for (const path of posts) {
    const answer = await nobody.post(prefix + filled(path), fields[path] ?? {}, { token: 'x' })
    assert.deepEqual([answer.status, answer.location], [303, '/wallet/sign-in'], path)
  }
  assert.deepEqual(await state(), before)
})

test('a form from another site, with another token or with none does nothing', async () => {
  const token = await own.client.token('/wallet/settings')
  const others = await other.client.token('/wallet/settings')
  const before = await state()
  for (const path of posts)
    for (const options of [
      { token, headers: { 'sec-fetch-site': 'cross-site' } },
      { token, headers: { origin: 'https://evil.example' } },
      { token: others },
      { token: '' },
    ]) {
      const number = randomUUID()
      const answer = await own.client.post(prefix + filled(path), { ...fields[path], number }, options)
      assert.equal(answer.status, 403, `${path} ${JSON.stringify(options.headers)}`)
    }
  assert.deepEqual(await state(), before)
})

test('another wallet’s passkey is answered as one that nobody has, and stays', async () => {
  const token = await own.client.token('/wallet/settings')
  const answers = []
  for (const id of things['credentialId'] ?? []) {
    const { status, text } = await own.client.get(`/wallet/passkeys/${id}/remove`)
    answers.push([status, text])
    const sent = await own.client.post(`/wallet/passkeys/${id}/remove`, { pin: testPin }, { token })
    assert.equal(sent.status, 422)
  }
  assert.deepEqual(answers[0], answers[1])
  assert.equal(answers[0]?.[0], 404)
  assert.equal((await gateway.stores.walletPasskeys.listPasskeys(other.login)).length, 1)
})

test('another wallet’s entry is answered as one that nobody has, and its sessions stay', async () => {
  const [others = '', nobodys = ''] = things['key'] ?? []
  const [a, b] = [
    await own.client.get(`/wallet/history/${others}`),
    await own.client.get(`/wallet/history/${nobodys}`),
  ]
  assert.deepEqual([a.status, a.text], [404, b.text])
  assert.equal((await other.client.get(`/wallet/history/${others}`)).status, 200)
  await own.client.send('/wallet/devices/end', { session: session.sessionId }, '/wallet/settings')
  assert.equal((await other.client.get('/wallet')).status, 200)
})

const hiddenIn = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  )

test('a withdrawal is shown as it was read before anything is held, and its form that is sent twice withdraws once', async () => {
  const withdrawn = async () => (await gateway.operations.withdraw.list(other.walletId, 10)).length
  const number = randomUUID()
  const token = await other.client.token('/wallet/withdraw')
  const send = (path: string, form: Record<string, string>) =>
    other.client.post(`/wallet/withdraw${path}`, { number, ...form }, { token })
  const typed = { amount: '1.2', currency: 'EUR', iban: 'de89 3704 0044 0532 0130 00' }
  const asked = await send('', typed)
  assert.equal(asked.status, 200)
  assert.match(asked.text, /8364;1\.20<.*DE89 3704 0044 0532 0130 00<.*Consumer \d+</s)
  assert.equal(await withdrawn(), 0)
  const { token: carriedToken, ...carried } = hiddenIn(asked.text)
  assert.ok(carriedToken)
  const shown = { amount: '1.20', currency: 'EUR', iban: 'DE89370400440532013000' }
  assert.deepEqual(carried, { number, ...shown })

  const wrong = await send('/confirm', { ...carried, pin: '999999' })
  assert.equal(wrong.status, 422)
  assert.match(wrong.text, /Incorrect PIN.*DE89 3704 0044 0532 0130 00/s)
  assert.deepEqual({ ...hiddenIn(wrong.text), token: '' }, { ...carried, token: '' })
  const changed = await send('', { ...carried, change: 'yes' })
  assert.equal(changed.status, 200)
  assert.equal(hiddenIn(changed.text)['number'], number)
  assert.match(
    changed.text,
    /name="amount"[^>]* value="1\.20".*name="iban"[^>]* value="DE89370400440532013000"/s,
  )
  assert.equal(await withdrawn(), 0)

  for (let times = 0; times < 2; times++)
    assert.equal((await send('/confirm', { ...carried, pin: testPin })).status, 303)
  assert.equal(await withdrawn(), 1)
  assert.equal((await send('', typed)).status, 200, 'asked again, it is shown again')
  for (const [path, pin] of [
    ['', ''],
    ['/confirm', testPin],
  ] as const) {
    const another = await send(path, { ...carried, amount: '1.30', pin })
    assert.equal(another.status, 422)
    assert.match(another.text, /already submitted this form with different details/)
    assert.match(another.text, /value="1\.30"/)
    assert.notEqual(hiddenIn(another.text)['number'], number)
  }
  assert.equal(await withdrawn(), 1)
  assert.deepEqual((await gateway.operations.verifyLedger()).findings, [])
})

test('what stands against a withdrawal when it is confirmed comes back in the first form, with what was typed', async () => {
  const number = randomUUID()
  const given = { ...fields['/withdraw/confirm'], amount: '2000', number }
  const { status, text } = await own.client.post('/wallet/withdraw/confirm', given, {
    on: '/wallet/withdraw',
  })
  assert.equal(status, 422)
  assert.match(text, /exceeds your available balance.*aria-invalid="true" autofocus value="2000"/s)
  assert.equal(hiddenIn(text)['number'], number)
})

test('an amount above what banks take in one payment is told as that, in the reader’s language', async () => {
  const rich = await consumerOf(gateway, { minor: 200_000_000_000n })
  const form = { ...fields['/withdraw'], amount: '1000000000' }
  const { status, text } = await rich.client.send('/wallet/withdraw', form)
  assert.equal(status, 422)
  assert.match(text, /at most \u2068€999,999,999\.99\u2069 at a time\..*aria-invalid="true"/s)
  await rich.client.get('/wallet?lang=de')
  const said = await rich.client.send('/wallet/withdraw', form)
  assert.match(said.text, /können höchstens \u2068999\.999\.999,99/)
})

test('whoever’s name is longer than banks take sees how it is shortened', async () => {
  const login = 'long@home.example'
  const name = `${'Ann '.repeat(20)}Example`
  const { wallets } = actingAs(gateway.operations, 'test')
  const { wallet } = await wallets.addWallet({ login, name, pin: testPin, reason: 'test' })
  await wallets.topUp({ wallet: wallet.walletId, currency: 'EUR', amountMinor: 100n, reason: 'test' })
  const client = new WalletClient(gateway)
  await client.signIn(login)
  const { text } = await client.send('/wallet/withdraw', { ...fields['/withdraw'] })
  assert.match(text, /70 characters/)
  assert.ok(text.includes(`<bdi>${name.slice(0, 70).trim()}</bdi>`))
  const sent = await client.post(
    '/wallet/withdraw/confirm',
    { ...hiddenIn(text), pin: testPin },
    { on: '/wallet/withdraw' },
  )
  assert.equal(sent.status, 303)
})

test('a refused form keeps its number, and has a new one where another was done by it', async () => {
  const number = randomUUID()
  const token = await other.client.token('/wallet/top-up')
  const numberIn = (text: string) => /name="number" value="([^"]+)"/.exec(text)?.[1]
  const send = (amount: string) =>
    other.client.post('/wallet/top-up', { ...fields['/top-up'], amount, number }, { token })
  assert.equal(numberIn((await send('x')).text), number)
  assert.equal((await send('1')).status, 303)
  const refused = await send('2')
  assert.equal(refused.status, 422)
  assert.match(refused.text, /already submitted this form with different details/)
  assert.notEqual(numberIn(refused.text), number)
  assert.match(refused.text, /value="2"/)
  assert.equal((await send('1')).status, 303)
})

test('what an operator gives the owner names bank accounts, devices and passkeys, of no other wallet', async () => {
  const { wallets } = actingAs(gateway.operations, 'test')
  const [all, theirs] = [
    await wallets.exportWallet(other.walletId, 'asked'),
    await wallets.exportWallet(own.walletId, 'asked'),
  ]
  assert.match(all.withdrawals[0]?.account ?? '', /DE89370400440532013000/)
  assert.deepEqual(theirs.withdrawals, [])
  assert.equal(all.passkeys.length, 1)
  assert.deepEqual(theirs.passkeys, [])
  assert.equal(all.devices[0]?.address, '127.0.0.1')
  assert.notDeepEqual(all.devices, theirs.devices)
})

test('odd input is refused in words, and never breaks a page', async () => {
  for (const [path, bad] of [
    ['/withdraw', { amount: '-1' }],
    ['/withdraw', { amount: '1', currency: '€' }],
    ['/withdraw', { amount: '99999999999999999999' }],
    ['/withdraw', { iban: 'DE00' }],
    ['/withdraw', { amount: '3000' }],
    ['/withdraw', { number: 'x' }],
    ['/withdraw/confirm', { amount: '-1' }],
    ['/withdraw/confirm', { iban: 'DE00' }],
    ['/withdraw/confirm', { number: 'x' }],
    ['/top-up', { amount: '' }],
    ['/top-up', { amount: '1', number: 'x' }],
    ['/pin', { new: '1', again: '1' }],
    ['/close', {}],
  ] as const) {
    const on = path === '/pin' ? '/wallet/settings' : prefix + path.replace('/confirm', '')
    const answer = await own.client.send(prefix + path, { ...fields[path], ...bad }, on)
    assert.equal(answer.status, 422, `${path} ${JSON.stringify(bad)}`)
    assert.match(answer.text, /role="alert"/)
  }
  for (const path of [
    '/history?before=x',
    '/history?before=9999999999999999999-x',
    '/history/1-',
    '/history/x',
  ])
    assert.ok([200, 404].includes((await own.client.get(prefix + path)).status), path)
})

test('a top-up offers amounts in the currency of the balance or, before there is one, of the language', async () => {
  const empty = await consumerOf(gateway, { minor: 0n })
  const chosenIn = ({ text }: { text: string }) => /currency=([A-Z]{3})" aria-current="true"/.exec(text)?.[1]
  assert.equal(chosenIn(await empty.client.get('/wallet/top-up')), 'USD')
  const cookie = [...empty.client.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const headers = { cookie, 'accept-language': 'en-GB,en' }
  const british = await fetch(`${gateway.url}/wallet/top-up`, { headers })
  assert.equal(chosenIn({ text: await british.text() }), 'GBP')
  assert.match((await empty.client.get('/wallet/top-up?lang=de')).text, /name="preset" value="EUR 20\.00"/)
  await empty.client.get('/wallet/top-up?lang=en')
  const chosen = await empty.client.send('/wallet/top-up', { preset: 'EUR 20.00' })
  assert.equal(chosen.status, 303, chosen.text)
  for (const preset of ['EUR', 'EUR -1', 'XXX 20.00', ''])
    assert.equal((await empty.client.send('/wallet/top-up', { preset })).status, 422, preset)
  assert.equal(chosenIn(await own.client.get('/wallet/top-up')), 'EUR')
  const inYen = await own.client.get('/wallet/top-up?currency=JPY')
  assert.equal(chosenIn(inYen), 'JPY')
  assert.match(inYen.text, /name="preset" value="JPY 1000"/)
  assert.match(inYen.text, /<option value="CHF">CHF – Swiss Franc<\/option>/)
  assert.equal(chosenIn(await own.client.get('/wallet/top-up?currency=XXX')), 'EUR')
})

test('an empty wallet says what to do next, and its first top-up is one tap away', async () => {
  const { client } = await consumerOf(gateway, { minor: 0n })
  const { text } = await client.get('/wallet')
  assert.match(text, /Top up your wallet, then/)
  assert.match(text, /action="\/wallet\/top-up"/)
  assert.equal((await client.send('/wallet/top-up', { preset: 'USD 10.00' }, '/wallet')).status, 303)
})

test('what is pending is listed above the history, and the headline is what can be spent', async () => {
  const { client, walletId } = await consumerOf(gateway, { minor: 5_000n })
  const { status } = await client.send(
    '/wallet/withdraw/confirm',
    fields['/withdraw/confirm'] ?? {},
    '/wallet/withdraw',
  )
  assert.equal(status, 303)
  await gateway.pool.query(
    `insert into authorizations (authorization_id, kind, merchant_id, payment_id, wallet_id, transaction_id, amount_minor,
                              currency, submitted_at, due_at)
     values ('P1', 'payment', 'M', 'P1', $1, 'T1', 1250, 'EUR', 1, 9999999999999)`,
    [walletId],
  )
  const home = await client.get('/wallet')
  assert.match(home.text, /class="balance"><bdi[^>]*>&#8364;49\.00/)
  assert.match(home.text, /&#8364;1\.00<\/bdi> pending/)
  const { text } = await client.get('/wallet/history')
  assert.match(text, /Withdrawal<.*&#8722;&#8364;1\.00.*Pending<.*Payment<.*&#8722;&#8364;12\.50.*Pending</s)
  assert.match((await client.get('/wallet/close')).text, /A transaction is still pending/)
  assert.doesNotMatch((await client.get('/wallet/close')).text, /name="pin"/)
  await gateway.pool.query("delete from authorizations where authorization_id = 'P1'")
})

test('nobody takes a test wallet of the sandbox from the others', async () => {
  const client = new WalletClient(gateway)
  const login = 'approves@sandbox.test'
  assert.equal((await client.signIn(login, testWalletPin)).status, 303)
  for (const [path, on] of [
    ['/wallet/pin', '/wallet/settings'],
    ['/wallet/close', '/wallet/close'],
  ] as const) {
    const given = { pin: testWalletPin, new: '135790', again: '135790' }
    assert.equal((await client.send(path, given, on)).status, 422)
  }
  assert.equal((await new WalletClient(gateway).signIn(login, testWalletPin)).status, 303)
})
