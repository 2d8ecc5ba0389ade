// Passkeys in a real browser against whoever has the page, the device or a copy of it: answers are bent, replayed, carried
// elsewhere and made on another site with Chromium's virtual authenticator, in the portal, in the console and at the wallet.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import type { CDPSession, Page } from 'playwright-core'
import { actingAs } from '../support/acting.ts'
import { launchBrowser, openPage } from '../support/browser.ts'
import { TestClock } from '../support/clock.ts'
import { startTestGateway } from '../support/gateway.ts'
import { memberOf, memberPassword } from '../support/portal.ts'
import { consumerOf, testPin } from '../support/wallet.ts'

const clock = new TestClock()
const gateway = await startTestGateway({ clock })
const browser = await launchBrowser()
// A passkey is bound to a name.
const atName = (address: string) => address.replace('127.0.0.1', 'localhost')
const evil = await startEvilSite()
const { merchantId } = await gateway.addMerchant({ name: 'Tea House' })
const operatorPassword = 'a password of an operator with keys'
let people = 0

interface Account {
  readonly login: string
  /** Takes all access away. */
  readonly end: () => Promise<unknown>
}

const adapters = {
  portal: {
    origin: atName(gateway.url),
    signIn: '/merchant/sign-in',
    home: '/merchant/orders',
    /** Where the login is shown. */
    who: '/merchant/account',
    passkeys: '/merchant/account/passkeys',
    addPage: '/merchant/account/passkeys',
    proof: 'Your password',
    fields: { login: 'Email address', secret: 'Password' },
    secret: memberPassword,
    async account(): Promise<Account> {
      const { email } = await memberOf(gateway, merchantId, 'developer')
      const { members } = actingAs(gateway.operations, 'test')
      return { login: email, end: () => members.removeMember({ merchantId, login: email }) }
    },
  },
  console: {
    origin: atName(gateway.adminUrl),
    signIn: '/sign-in',
    home: '/account',
    who: '/account',
    passkeys: '/account/passkeys',
    addPage: '/account/passkeys',
    proof: 'Your password',
    fields: { login: 'Login', secret: 'Password' },
    secret: operatorPassword,
    async account(): Promise<Account> {
      const login = `keys-${++people}`
      const { operators } = actingAs(gateway.operations, 'test')
      await operators.addOperator({ login, role: 'viewer', password: operatorPassword })
      return { login, end: () => operators.disableOperator(login, 'left') }
    },
  },
  wallet: {
    origin: atName(gateway.url),
    signIn: '/wallet/sign-in',
    home: '/wallet',
    who: '/wallet/settings',
    passkeys: '/wallet/passkeys',
    addPage: '/wallet/passkeys',
    proof: 'Your PIN',
    fields: { login: 'Email or phone number', secret: 'PIN' },
    secret: testPin,
    async account(): Promise<Account> {
      const { login, walletId } = await consumerOf(gateway)
      return { login, end: () => actingAs(gateway.operations, 'test').wallets.lockWallet(walletId, 'lost') }
    },
  },
} as const
type Adapter = (typeof adapters)[keyof typeof adapters]

/** At another port of the same name: a browser takes it for the same site, and not for the same origin. */
async function startEvilSite(): Promise<string> {
  const server = createServer((_request, response) =>
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<!doctype html><title>evil</title><link rel="icon" href="data:,"><body>'),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close().closeAllConnections())
  // Safe: it listens on TCP.
  return `http://localhost:${(server.address() as AddressInfo).port}/`
}

type Key = Awaited<ReturnType<typeof keysOf>>[number]

async function keysOf(devtools: CDPSession, authenticatorId: string) {
  return (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials
}

/** A browser of its own with a device that has no keys yet. */
async function openDevice() {
  const { page } = await openPage(browser)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return {
    page,
    keys: () => keysOf(devtools, authenticatorId),
    hold: (credential: Key) => devtools.send('WebAuthn.addCredential', { authenticatorId, credential }),
    setUserVerified: (isUserVerified: boolean) =>
      devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  }
}
type Device = Awaited<ReturnType<typeof openDevice>>

/** The allowance of the address comes back with time; and every answer is later than the one before, as clocks have it. */
async function goTo(address: string, page: Page): Promise<void> {
  clock.advance(10_000)
  await page.goto(address)
}

/** Signed in by password or PIN, and out again, with a passkey of this adapter on the device. */
async function makeKey(adapter: Adapter, { page }: Device): Promise<Account> {
  const account = await adapter.account()
  await signInBySecret(adapter, page, account)
  await goTo(adapter.origin + adapter.addPage, page)
  await page.getByLabel(adapter.proof).fill(adapter.secret)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByLabel('Name').fill('device')
  await page.getByRole('button', { name: /^(Create|Make the) passkey$/ }).click()
  await page.getByText(/passkey (is )?added/i).waitFor()
  await page.context().clearCookies()
  return account
}

async function signInBySecret(adapter: Adapter, page: Page, { login }: Account): Promise<void> {
  await goTo(adapter.origin + adapter.signIn, page)
  await page.getByLabel(adapter.fields.login).fill(login)
  await page.getByLabel(adapter.fields.secret).fill(adapter.secret)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL((at) => !at.pathname.endsWith('/sign-in'))
}

type Bend = Readonly<Record<string, unknown>>

/** What the device answers to the sign-in page's question, bent on its way to the device. */
async function answerOf(adapter: Adapter, page: Page, bend: Bend = {}): Promise<string> {
  await goTo(adapter.origin + adapter.signIn, page)
  return answerAt(page, await askOf(adapter, page), bend)
}

/** With the browser's own cookies, to which it is bound. */
async function askOf({ origin, signIn }: Adapter, page: Page): Promise<{ readonly challenge: string }> {
  return (await page.request.get(`${origin}${signIn}/passkey`)).json()
}

/** At whatever site the page is. */
async function answerAt(page: Page, asked: object, bend: Bend = {}): Promise<string> {
  const options = JSON.stringify({ ...asked, ...bend })
  // Safe: the script answers a text.
  return (await page.evaluate(`navigator.credentials
    .get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(${options}) })
    .then((credential) => JSON.stringify(credential))`)) as string
}

/** In the page's own form, as if the browser had just given it. Whether it signed in. */
async function send(adapter: Adapter, page: Page, credential: string): Promise<boolean> {
  await goTo(adapter.origin + adapter.signIn, page)
  await submit(page, `document.querySelector('form[data-passkey]')`, { credential })
  const home = await page.request.get(adapter.origin + adapter.home, { maxRedirects: 0 })
  return home.status() === 200
}

/** Answers the status of what came. `form`: a script that finds or makes it. */
async function submit(page: Page, form: string, fields: Readonly<Record<string, string>>): Promise<number> {
  const [response] = await Promise.all([
    page.waitForResponse((each) => each.request().method() === 'POST'),
    page.waitForEvent('load'),
    page.evaluate(`(() => {
      const form = ${form}
      for (const [name, value] of Object.entries(${JSON.stringify(fields)})) {
        const field = form.elements.namedItem(name) ?? document.createElement('input')
        field.name = name
        field.value = value
        form.append(field)
      }
      document.body.append(form)
      form.submit()
    })()`),
  ])
  return response.status()
}

for (const [name, adapter] of Object.entries(adapters)) {
  test(`${name}: an answer signs in once, in its own browser, and by its own question`, async () => {
    const [device, thief] = [await openDevice(), await openDevice()]
    await makeKey(adapter, device)
    const { page } = device
    const answer = await answerOf(adapter, page)
    assert.equal(await send(adapter, thief.page, answer), false, 'another browser')
    assert.equal(await send(adapter, page, answer), true)
    const kept = (await page.context().cookies()).filter((each) => each.name.endsWith('-browser'))
    await page.context().clearCookies()
    await page.context().addCookies(kept)
    assert.equal(await send(adapter, page, answer), false, 'again')
    assert.equal(await send(adapter, page, await answerOf(adapter, page, { challenge: 'AAAA' })), false)
    await goTo(adapter.origin + adapter.signIn, thief.page)
    const relayed = await answerAt(page, await askOf(adapter, thief.page))
    assert.equal(await send(adapter, page, relayed), false, 'a question of another browser')
    assert.equal(await send(adapter, page, await answerOf(adapter, page)), true, 'it works all the same')
  })

  test(`${name}: a device that nobody proved to hold, and an answer made on another site, sign nobody in`, async () => {
    const device = await openDevice()
    await makeKey(adapter, device)
    const { page } = device
    await device.setUserVerified(false)
    await assert.rejects(answerOf(adapter, page), /NotAllowedError/)
    const unproven = await answerOf(adapter, page, { userVerification: 'discouraged' })
    assert.equal(await send(adapter, page, unproven), false, 'nobody’s finger')
    await device.setUserVerified(true)
    await goTo(adapter.origin + adapter.signIn, page)
    const asked = await askOf(adapter, page)
    await page.goto(evil)
    assert.equal(await send(adapter, page, await answerAt(page, asked)), false, 'made on another site')
    await page.goto(evil.replace('localhost', '127.0.0.1'))
    await assert.rejects(answerAt(page, asked), /SecurityError/)
    // Nor is the page shown in a frame there, where one could be led to press its button.
    await page.goto(evil)
    await page.evaluate(`new Promise((resolve) => {
      const frame = document.createElement('iframe')
      frame.allow = 'publickey-credentials-get *'
      frame.onload = resolve
      frame.src = '${adapter.origin}${adapter.signIn}'
      document.body.append(frame)
    })`)
    const framed = page.frames().find((frame) => frame !== page.mainFrame())
    assert.equal(await framed?.locator('form').count(), 0)
  })

  test(`${name}: of a device and its copy the one that lags behind is refused, and so is another’s name on a key`, async () => {
    const [device, copy] = [await openDevice(), await openDevice()]
    await makeKey(adapter, device)
    const [key] = await device.keys()
    assert(key)
    assert.equal(await send(adapter, device.page, await answerOf(adapter, device.page)), true)
    await copy.hold(key)
    assert.equal(await send(adapter, copy.page, await answerOf(adapter, copy.page)), false, 'it lags behind')
    const [other, renamed] = [await openDevice(), await openDevice()]
    await makeKey(adapter, other)
    const [theirs] = await other.keys()
    assert(theirs?.userHandle)
    await renamed.hold({ ...key, signCount: key.signCount + 50, userHandle: theirs.userHandle })
    assert.equal(
      await send(adapter, renamed.page, await answerOf(adapter, renamed.page)),
      false,
      'another’s name',
    )
    const ahead = await openDevice()
    await ahead.hold({ ...key, signCount: key.signCount + 100 })
    assert.equal(
      await send(adapter, ahead.page, await answerOf(adapter, ahead.page)),
      true,
      'nobody can tell yet',
    )
    await device.page.context().clearCookies()
    assert.equal(
      await send(adapter, device.page, await answerOf(adapter, device.page)),
      false,
      'now it shows',
    )
  })

  test(`${name}: an answer that was made before all access ended is worth nothing after it`, async () => {
    const device = await openDevice()
    const account = await makeKey(adapter, device)
    const answer = await answerOf(adapter, device.page)
    await account.end()
    assert.equal(await send(adapter, device.page, answer), false)
  })

  test(`${name}: no passkey is added without a proof of the moment, nor by another site`, async () => {
    const device = await openDevice()
    await makeKey(adapter, device)
    const { page } = device
    assert.equal(await send(adapter, page, await answerOf(adapter, page)), true)
    const { challenge } = await askOf(adapter, page)
    await goTo(adapter.origin + adapter.addPage, page)
    const token = await page.locator('input[name=token]').first().inputValue()
    const options = {
      rp: { id: 'localhost', name: 'x' },
      user: { id: 'AAAA', name: 'x', displayName: 'x' },
      challenge,
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    }
    // Safe: the script answers a text.
    const made = (await page.evaluate(`navigator.credentials
      .create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(${JSON.stringify(options)}) })
      .then((credential) => JSON.stringify(credential))`)) as string
    const post = async (path: string, form: Record<string, string>) => {
      clock.advance(60_000)
      const to = adapter.origin + adapter.passkeys + path
      const given = { form: { token, ...form }, headers: { origin: adapter.origin }, maxRedirects: 0 }
      return (await page.request.post(to, given)).status()
    }
    assert.equal(await post('/add', { name: 'mine', credential: made }), 422, 'the question of the sign-in')
    assert.equal(await post('/begin', {}), 422)
    assert.equal(await post('/begin', { password: '', pin: '' }), 422)
    assert.equal(await post('/begin', { password: 'not the password', pin: '000000' }), 422)
    // A form of another site comes with the browser's cookies, and a token that leaked helps it no further.
    for (const stolen of ['', token])
      for (const [path, fields] of [
        [`${adapter.passkeys}/add`, { name: 'evil', credential: made }],
        [`${adapter.passkeys}/begin`, { password: adapter.secret, pin: adapter.secret }],
        [`${adapter.signIn}/passkey`, { credential: made }],
      ] as const) {
        await goTo(evil, page)
        const action = JSON.stringify(adapter.origin + path)
        const form = `Object.assign(document.createElement('form'), { method: 'post', action: ${action} })`
        assert.equal(await submit(page, form, { ...fields, token: stolen }), 403, path)
      }
    await goTo(adapter.origin + adapter.passkeys, page)
    await page.getByText('device', { exact: true }).waitFor()
    for (const added of ['mine', 'evil'])
      assert.equal(await page.getByText(added, { exact: true }).count(), 0, added)
  })
}

test('a passkey opens the account that it was made for and no other, also where one device holds them all', async () => {
  const device = await openDevice()
  const { page } = device
  const held: { readonly adapter: Adapter; readonly id: string; readonly login: string }[] = []
  for (const adapter of Object.values(adapters)) {
    const own = await openDevice()
    const { login } = await makeKey(adapter, own)
    const [made] = await own.keys()
    assert(made)
    await device.hold(made)
    held.push({ adapter, id: made.credentialId, login })
  }
  for (const adapter of Object.values(adapters))
    for (const key of held) {
      await page.context().clearCookies()
      const id = Buffer.from(key.id, 'base64').toString('base64url')
      const answer = await answerOf(adapter, page, { allowCredentials: [{ type: 'public-key', id }] })
      const isRight = key.adapter === adapter
      assert.equal(await send(adapter, page, answer), isRight)
      if (!isRight) continue
      await goTo(adapter.origin + adapter.who, page)
      const text = await page.content()
      assert.deepEqual(
        held.filter(({ login }) => text.includes(login)).map(({ login }) => login),
        [key.login],
      )
    }
})
