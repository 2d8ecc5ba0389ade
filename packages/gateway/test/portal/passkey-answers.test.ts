// Passkeys over HTTP, of members, operators and consumers: added after the password or PIN, used instead of it, and every answer that was
// used, is late, was made for another browser or comes from a copied authenticator signs nobody in.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { challengeLifeMs } from '../../src/identity/accounts/rules/passkey-site.ts'
import { actingAs } from '../support/acting.ts'
import { Authenticator, type CreationOptions, type RequestOptions } from '../support/authenticator.ts'
import { TestClock } from '../support/clock.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import { memberOf, memberPassword, PortalClient } from '../support/portal.ts'
import { operatorPassword } from '../support/started.ts'
import { consumerOf, testPin, WalletClient } from '../support/wallet.ts'

const clock = new TestClock()
const gateway = await startTestGateway({ clock })
const { merchantId } = await gateway.addMerchant({ name: 'Tea House' })

/** The same for all kinds of people, at their own addresses. */
const adapters = {
  member: {
    origin: gateway.url.replace('127.0.0.1', 'localhost'),
    proof: { password: memberPassword },
    noProof: { password: 'not the password' },
    page: '/merchant/account/passkeys',
    form: '/merchant/account',
    signIn: '/merchant/sign-in',
    refused: 401,
    home: '/merchant',
    cookie: 'merchant',
    remove: (id: string) => `/merchant/account/passkeys/${id}/remove`,
    newBrowser: () => new PortalClient({ url: gateway.url.replace('127.0.0.1', 'localhost') }),
    async signedIn() {
      const { email } = await memberOf(gateway, merchantId, 'owner')
      const client = this.newBrowser()
      await client.signIn(email)
      return client
    },
  },
  operator: {
    origin: gateway.adminUrl.replace('127.0.0.1', 'localhost'),
    proof: { password: operatorPassword },
    noProof: { password: 'not the password' },
    page: '/account/passkeys',
    form: '/account',
    signIn: '/sign-in',
    refused: 401,
    home: '/account',
    cookie: 'console',
    remove: (id: string) => `/account/passkeys/${id}/remove`,
    newBrowser: () => new ConsoleClient({ adminUrl: gateway.adminUrl.replace('127.0.0.1', 'localhost') }),
    async signedIn() {
      const client = this.newBrowser()
      await client.signIn()
      return client
    },
  },
  wallet: {
    origin: gateway.url.replace('127.0.0.1', 'localhost'),
    proof: { pin: testPin },
    noProof: { pin: '000000' },
    page: '/wallet/passkeys',
    form: '/wallet/passkeys',
    signIn: '/wallet/sign-in',
    refused: 422,
    home: '/wallet',
    cookie: 'wallet',
    remove: (id: string) => `/wallet/passkeys/${id}/remove`,
    newBrowser: () => new WalletClient({ url: gateway.url.replace('127.0.0.1', 'localhost') }),
    async signedIn() {
      const { login } = await consumerOf(gateway)
      const client = this.newBrowser()
      await client.signIn(login)
      return client
    },
  },
} as const
type Adapter = (typeof adapters)[keyof typeof adapters]

async function begin({ page, proof, form }: Adapter, client: ConsoleClient): Promise<CreationOptions> {
  const { status, text } = await client.post(`${page}/begin`, { ...proof }, { on: form })
  assert.equal(status, 200, text)
  const [, options = ''] = /data-options="([^"]+)"/.exec(text) ?? []
  return JSON.parse(options.replaceAll('&quot;', '"'))
}

async function add(adapter: Adapter, signCount = 0) {
  const client = await adapter.signedIn()
  const device = new Authenticator()
  const credential = device.create(await begin(adapter, client), { origin: adapter.origin, signCount })
  const sent = { name: 'laptop', credential }
  const added = await client.post(`${adapter.page}/add`, sent, { on: adapter.form })
  assert.equal(added.status, 303, added.text)
  clock.advance(1000)
  return { client, device, sent }
}

async function ask({ signIn }: Adapter, client: ConsoleClient): Promise<RequestOptions> {
  await client.get(signIn)
  const options = JSON.parse((await client.get(`${signIn}/passkey`)).text)
  // Every answer is later than the one before, as clocks have it.
  clock.advance(1000)
  return options
}

async function isIn({ home }: Adapter, client: ConsoleClient): Promise<boolean> {
  return (await client.get(home)).status === 200
}

for (const [kind, adapter] of Object.entries(adapters)) {
  const { origin, signIn, page, refused: refusedStatus } = adapter
  const on = { on: adapter.form }
  const send = async (client: ConsoleClient, credential: string) =>
    client.post(`${signIn}/passkey`, { credential }, { on: signIn })

  test(`${kind}: a passkey signs in without password, once for each challenge`, async () => {
    const { device } = await add(adapter)
    const browser = adapter.newBrowser()
    const answer = device.get(await ask(adapter, browser), { origin })
    assert.equal((await send(browser, answer)).status, 303)
    assert.ok(await isIn(adapter, browser))
    browser.cookies.delete(adapter.cookie)
    const replayed = await send(browser, answer)
    assert.equal(replayed.status, refusedStatus)
    assert.ok(!(await isIn(adapter, browser)))
  })

  test(`${kind}: of two who send the same answer at once one comes in`, async () => {
    const { device } = await add(adapter)
    const browser = adapter.newBrowser()
    const answer = device.get(await ask(adapter, browser), { origin })
    const token = await browser.token(signIn)
    const sent = await Promise.all(
      [1, 2].map(() => browser.post(`${signIn}/passkey`, { credential: answer }, { token })),
    )
    assert.deepEqual(sent.map(({ status }) => status).sort(), [303, refusedStatus])
  })

  test(`${kind}: an answer for another browser, site or account, late or by nobody's finger, is refused`, async () => {
    const { device } = await add(adapter)
    const stranger = new Authenticator()
    const refusals: Record<string, (options: RequestOptions) => string | Promise<string>> = {
      'another browser': async () => device.get(await ask(adapter, adapter.newBrowser()), { origin }),
      'another site': (options) => device.get(options, { origin: 'https://evil.example' }),
      'another name': (options) => device.get({ ...options, rpId: 'evil.example' }, { origin }),
      'another account': (options) => device.get(options, { origin, userHandle: 'c29tZWJvZHk' }),
      'no check of who holds it': (options) => device.get(options, { origin, isVerified: false }),
      'an unknown key': (options) => stranger.get(options, { origin }),
      'a challenge of its own': (options) => device.get({ ...options, challenge: 'AAAA' }, { origin }),
      nonsense: () => '{"id":{}}',
      nothing: () => '',
      late: (options) => {
        clock.advance(challengeLifeMs)
        return device.get(options, { origin })
      },
    }
    for (const [name, make] of Object.entries(refusals)) {
      const browser = adapter.newBrowser()
      const answer = await make(await ask(adapter, browser))
      assert.equal((await send(browser, answer)).status, refusedStatus, name)
      clock.advance(60_000)
    }
  })

  test(`${kind}: a copied authenticator, whose count lags behind, is refused`, async () => {
    const { device } = await add(adapter, 5)
    for (const [signCount, status] of [
      [6, 303],
      [6, refusedStatus],
      [3, refusedStatus],
      [0, refusedStatus],
      [7, 303],
    ] as const) {
      const browser = adapter.newBrowser()
      const answer = device.get(await ask(adapter, browser), { origin, signCount })
      assert.equal((await send(browser, answer)).status, status, String(signCount))
    }
  })

  test(`${kind}: adding one asks for the password, and its challenge is this session's, once`, async () => {
    const { client, sent } = await add(adapter)
    assert.equal((await client.post(`${page}/begin`, { ...adapter.noProof }, on)).status, 422)
    assert.equal((await client.post(`${page}/add`, sent, on)).status, 422, 'the same answer again')
    const other = await adapter.signedIn()
    const foreign = new Authenticator().create(await begin(adapter, other), { origin })
    clock.advance(60_000)
    assert.equal((await client.post(`${page}/add`, { name: 'x', credential: foreign }, on)).status, 422)
    const elsewhere = new Authenticator().create(await begin(adapter, client), {
      origin: 'https://evil.example',
    })
    assert.equal((await client.post(`${page}/add`, { name: 'x', credential: elsewhere }, on)).status, 422)
  })

  test(`${kind}: removing one asks for the password, and then it signs nobody in`, async () => {
    const { client, device } = await add(adapter)
    const credentialId = device.id.toString('base64url')
    const path = adapter.remove(credentialId)
    const refused = await client.post(path, { credentialId, ...adapter.noProof }, on)
    assert.equal(refused.status, 422)
    assert.equal((await client.post(path, { credentialId, ...adapter.proof }, on)).status, 303)
    const browser = adapter.newBrowser()
    const answer = device.get(await ask(adapter, browser), { origin })
    assert.equal((await send(browser, answer)).status, refusedStatus)
  })
}

test('a passkey of one kind of account opens nothing of the other', async () => {
  const { device } = await add(adapters.member)
  const console = adapters.operator.newBrowser()
  const answer = device.get(await ask(adapters.operator, console), { origin: adapters.operator.origin })
  const sent = await console.post('/sign-in/passkey', { credential: answer }, { on: '/sign-in' })
  assert.equal(sent.status, 401)
})

test('a wallet’s passkeys stay when the PIN is changed, and go with a PIN that was set by a code and with the wallet', async () => {
  const adapter = adapters.wallet
  const { login, walletId } = await consumerOf(gateway)
  const client = adapter.newBrowser()
  await client.signIn(login)
  const addOne = async () => {
    const credential = new Authenticator().create(await begin(adapter, client), { origin: adapter.origin })
    const added = await client.post(
      `${adapter.page}/add`,
      { name: 'phone', credential },
      { on: adapter.form },
    )
    assert.equal(added.status, 303, added.text)
    clock.advance(1000)
  }
  const left = async () => (await gateway.stores.walletPasskeys.listPasskeys(login)).length
  await addOne()
  await client.post('/wallet/pin', { pin: testPin, new: testPin, again: testPin }, { on: '/wallet/settings' })
  assert.equal(await left(), 1)
  const { code = '' } = await actingAs(gateway.operations, 'test').wallets.resetPin(walletId, 'lost')
  const given = { login, code, pin: testPin, again: testPin }
  const reset = await client.post('/wallet/new-pin', given, { on: '/wallet/new-pin' })
  assert.equal(reset.status, 303, reset.text)
  assert.equal(await left(), 0)
  await addOne()
  await client.post('/wallet/close', { pin: testPin }, { on: '/wallet/close' })
  assert.equal(await left(), 0)
  const { rows } = await gateway.pool.query(
    `select act, reason from audit where subject = $1 and act like '%passkey'`,
    [walletId],
  )
  assert.deepEqual(rows[0], { act: 'wallet.add-passkey', reason: null }, 'the audit names nobody')
})

test('a locked wallet’s passkey signs nobody in, and says no more than an unknown one does', async () => {
  const adapter = adapters.wallet
  const { device, client } = await add(adapter)
  const known = await gateway.stores.walletPasskeys.findPasskey(device.id)
  assert(known)
  await actingAs(gateway.operations, 'test').wallets.lockWallet(known.access.login, 'test')
  assert.ok(!(await isIn(adapter, client)))
  const answers: string[] = []
  for (const each of [device, new Authenticator()]) {
    const browser = adapter.newBrowser()
    const credential = each.get(await ask(adapter, browser), { origin: adapter.origin })
    const { status, text } = await browser.post(
      '/wallet/sign-in/passkey',
      { credential },
      { on: '/wallet/sign-in' },
    )
    assert.equal(status, 422)
    answers.push(text.replace(/name="token" value="[^"]+"/g, ''))
  }
  assert.equal(answers[0], answers[1])
})

test('a passkey gives no further guesses of the PIN, and its browser is told of once', async () => {
  const adapter = adapters.wallet
  const { device } = await add(adapter)
  const known = await gateway.stores.walletPasskeys.findPasskey(device.id)
  assert(known)
  const guess = async (browser: ConsoleClient) => {
    const fields = { pin: '000000', new: testPin, again: testPin }
    return (await browser.post('/wallet/pin', fields, { on: '/wallet/settings' })).text
  }
  const signInWith = async (browser: ConsoleClient) => {
    const credential = device.get(await ask(adapter, browser), { origin: adapter.origin })
    const sent = await browser.post('/wallet/sign-in/passkey', { credential }, { on: '/wallet/sign-in' })
    assert.equal(sent.status, 303, sent.text)
  }
  const marks = () =>
    [...browser.cookies].flatMap(([name, value]) => (name.startsWith('wallet-') ? [value] : []))
  const browser = adapter.newBrowser()
  await signInWith(browser)
  const before = marks()
  for (let tries = 0; tries < 5; tries++) await guess(browser)
  await signInWith(browser)
  assert.deepEqual(marks(), before, 'it is known already')
  assert.match(await guess(browser), /Too many failed attempts/)
  const other = adapter.newBrowser()
  await signInWith(other)
  assert.match(await guess(other), /Too many failed attempts/)
})

test('a sign-in that was proven before all access ended opens no session', async () => {
  const { login } = await consumerOf(gateway)
  const wallet = await gateway.stores.wallets.findWalletByLogin(login)
  assert(wallet)
  const { walletSessions } = gateway.operations
  const place = { address: '127.0.0.1', userAgent: '' }
  assert.ok(await walletSessions.open(wallet, place))
  await walletSessions.endAll(wallet.walletId, 'test')
  assert.equal(await walletSessions.open(wallet, place), undefined)
})

test('a password that was not proven by the old one removes passkeys; one’s own change leaves them', async () => {
  const password = 'a password of passkeys'
  const { operators } = actingAs(gateway.operations, 'test')
  await operators.addOperator({ login: 'keys', role: 'viewer', password })
  const client = adapters.operator.newBrowser()
  await client.signIn('keys', password)
  const device = new Authenticator()
  const options = await begin({ ...adapters.operator, proof: { password } } as unknown as Adapter, client)
  const credential = device.create(options, { origin: adapters.operator.origin })
  await client.post('/account/passkeys/add', { name: 'laptop', credential })
  const left = async () => (await gateway.stores.operatorPasskeys.listPasskeys('keys')).length
  const next = 'another password of passkeys'
  await client.post('/account/password', { old: password, new: next, again: next })
  assert.equal(await left(), 1)
  await operators.resetPassword({ login: 'keys', reason: 'lost' })
  assert.equal(await left(), 0)
})
