// Passkeys over HTTP, of members and of operators: added after the password, used instead of it, and every answer that was
// used, is late, was made for another browser or comes from a copied authenticator signs nobody in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { challengeLifeMs } from '../../src/accounts/rules/passkey.ts'
import { Authenticator, type CreationOptions, type RequestOptions } from '../support/authenticator.ts'
import { TestClock } from '../support/clock.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import { memberOf, memberPassword, PortalClient } from '../support/portal.ts'
import { operatorPassword } from '../support/started.ts'

const clock = new TestClock()
const gateway = await startTestGateway({ clock })
const { merchantId } = await gateway.addMerchant({ name: 'Tea House' })

/** The same for both kinds of people, at their own addresses. */
const faces = {
  member: {
    origin: gateway.url.replace('127.0.0.1', 'localhost'),
    password: memberPassword,
    page: '/merchant/account/passkeys',
    signIn: '/merchant/sign-in',
    home: '/merchant',
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
    password: operatorPassword,
    page: '/account/passkeys',
    signIn: '/sign-in',
    home: '/account',
    newBrowser: () => new ConsoleClient({ adminUrl: gateway.adminUrl.replace('127.0.0.1', 'localhost') }),
    async signedIn() {
      const client = this.newBrowser()
      await client.signIn()
      return client
    },
  },
} as const
type Face = (typeof faces)[keyof typeof faces]

async function begin({ page, password }: Face, client: ConsoleClient): Promise<CreationOptions> {
  const { status, text } = await client.post(
    `${page}/begin`,
    { password },
    { on: page.replace(/\/passkeys$/, '') },
  )
  assert.equal(status, 200, text)
  const [, options = ''] = /data-options="([^"]+)"/.exec(text) ?? []
  return JSON.parse(options.replaceAll('&quot;', '"'))
}

async function add(face: Face, signCount = 0) {
  const client = await face.signedIn()
  const device = new Authenticator()
  const credential = device.create(await begin(face, client), { origin: face.origin, signCount })
  const sent = { name: 'laptop', credential }
  const added = await client.post(`${face.page}/add`, sent, { on: face.page.replace(/\/passkeys$/, '') })
  assert.equal(added.status, 303, added.text)
  clock.advance(1000)
  return { client, device, sent }
}

async function ask({ signIn }: Face, client: ConsoleClient): Promise<RequestOptions> {
  await client.get(signIn)
  const options = JSON.parse((await client.get(`${signIn}/passkey`)).text)
  // Every answer is later than the one before, as clocks have it.
  clock.advance(1000)
  return options
}

async function isIn({ home }: Face, client: ConsoleClient): Promise<boolean> {
  return (await client.get(home)).status === 200
}

for (const [kind, face] of Object.entries(faces)) {
  const { origin, signIn, page } = face
  const send = async (client: ConsoleClient, credential: string) =>
    client.post(`${signIn}/passkey`, { credential }, { on: signIn })

  test(`${kind}: a passkey signs in without password, once for each challenge`, async () => {
    const { device } = await add(face)
    const browser = face.newBrowser()
    const answer = device.get(await ask(face, browser), { origin })
    assert.equal((await send(browser, answer)).status, 303)
    assert.ok(await isIn(face, browser))
    browser.cookies.delete(kind === 'member' ? 'merchant' : 'console')
    const replayed = await send(browser, answer)
    assert.equal(replayed.status, 401)
    assert.ok(!(await isIn(face, browser)))
  })

  test(`${kind}: of two who send the same answer at once one comes in`, async () => {
    const { device } = await add(face)
    const browser = face.newBrowser()
    const answer = device.get(await ask(face, browser), { origin })
    const token = await browser.token(signIn)
    const sent = await Promise.all(
      [1, 2].map(() => browser.post(`${signIn}/passkey`, { credential: answer }, { token })),
    )
    assert.deepEqual(sent.map(({ status }) => status).sort(), [303, 401])
  })

  test(`${kind}: an answer for another browser, site or account, late or by nobody's finger, is refused`, async () => {
    const { device } = await add(face)
    const stranger = new Authenticator()
    const refusals: Record<string, (options: RequestOptions) => string | Promise<string>> = {
      'another browser': async () => device.get(await ask(face, face.newBrowser()), { origin }),
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
      const browser = face.newBrowser()
      const answer = await make(await ask(face, browser))
      assert.equal((await send(browser, answer)).status, 401, name)
      clock.advance(60_000)
    }
  })

  test(`${kind}: a copied authenticator, whose count lags behind, is refused`, async () => {
    const { device } = await add(face, 5)
    for (const [signCount, status] of [
      [6, 303],
      [6, 401],
      [3, 401],
      [0, 401],
      [7, 303],
    ] as const) {
      const browser = face.newBrowser()
      const answer = device.get(await ask(face, browser), { origin, signCount })
      assert.equal((await send(browser, answer)).status, status, String(signCount))
    }
  })

  test(`${kind}: adding one asks for the password, and its challenge is this session's, once`, async () => {
    const { client, sent } = await add(face)
    const on = { on: page.replace(/\/passkeys$/, '') }
    assert.equal((await client.post(`${page}/begin`, { password: 'not the password' }, on)).status, 422)
    assert.equal((await client.post(`${page}/add`, sent, on)).status, 422, 'the same answer again')
    const other = await face.signedIn()
    const foreign = new Authenticator().create(await begin(face, other), { origin })
    clock.advance(60_000)
    assert.equal((await client.post(`${page}/add`, { name: 'x', credential: foreign }, on)).status, 422)
    const elsewhere = new Authenticator().create(await begin(face, client), {
      origin: 'https://evil.example',
    })
    assert.equal((await client.post(`${page}/add`, { name: 'x', credential: elsewhere }, on)).status, 422)
  })

  test(`${kind}: removing one asks for the password, and then it signs nobody in`, async () => {
    const { client, device } = await add(face)
    const on = { on: page.replace(/\/passkeys$/, '') }
    const credentialId = device.id.toString('base64url')
    const path = kind === 'member' ? `${page}/${credentialId}/remove` : `${page}/remove`
    const refused = await client.post(path, { credentialId, password: 'not the password' }, on)
    assert.equal(refused.status, 422)
    assert.equal((await client.post(path, { credentialId, password: face.password }, on)).status, 303)
    const browser = face.newBrowser()
    const answer = device.get(await ask(face, browser), { origin })
    assert.equal((await send(browser, answer)).status, 401)
  })
}

test('a passkey of one kind of account opens nothing of the other', async () => {
  const { device } = await add(faces.member)
  const console = faces.operator.newBrowser()
  const answer = device.get(await ask(faces.operator, console), { origin: faces.operator.origin })
  const sent = await console.post('/sign-in/passkey', { credential: answer }, { on: '/sign-in' })
  assert.equal(sent.status, 401)
})

test('a password that was not proven by the old one removes passkeys; one’s own change leaves them', async () => {
  const password = 'a password of passkeys'
  const { operators } = gateway.operations.as('test')
  await operators.addOperator({ login: 'keys', role: 'viewer', password })
  const client = faces.operator.newBrowser()
  await client.signIn('keys', password)
  const device = new Authenticator()
  const options = await begin({ ...faces.operator, password } as unknown as Face, client)
  const credential = device.create(options, { origin: faces.operator.origin })
  await client.post('/account/passkeys/add', { name: 'laptop', credential })
  const left = async () => (await gateway.stores.operatorPasskeys.listPasskeys('keys')).length
  const next = 'another password of passkeys'
  await client.post('/account/password', { old: password, new: next, again: next })
  assert.equal(await left(), 1)
  await operators.resetPassword({ login: 'keys', reason: 'lost' })
  assert.equal(await left(), 0)
})
