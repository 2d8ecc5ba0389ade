import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { Tillgate } from '../../../sdk/src/index.ts'
import { desktop, launchBrowser, openPage, phone, screens } from '../support/browser.ts'
import { startTestGateway } from '../support/gateway.ts'
import { look } from '../support/look.ts'

const gateway = await startTestGateway()
const browser = await launchBrowser()

const order = {
  order: {
    orderNo: 'A-1',
    orderAmount: 5,
    goods: [{ referenceGoodsId: 'tea', goodsName: 'Tea', goodsAmount: 5 }],
  },
  paymentAmount: 5,
  currency: 'EUR',
}

for (const { size, colorScheme, options } of screens) {
  test(`the key pair is made in the browser, and its private half never leaves it (${size}, ${colorScheme})`, async () => {
    const { page, troubles } = await openPage(browser, options)
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.postData() ?? ''))
    await page.goto(gateway.url)
    await page.getByRole('link', { name: 'get sandbox access' }).click()
    await look(page, `sandbox-${size}-${colorScheme}`)
    await page.getByLabel('Name of your shop').fill('Tea House')
    await page.getByRole('button', { name: 'Get access' }).click()
    await page.getByRole('heading', { name: 'Tea House can take test payments' }).waitFor()
    assert.equal(await page.title(), 'Your sandbox access')
    await look(page, `sandbox-given-${size}-${colorScheme}`)
    const env = parseEnv((await page.locator('#env').textContent()) ?? '')
    assert.equal((await Tillgate.fromEnvironment(env).orders.create(order)).status, 'pending')

    const privateKey = env['TILLGATE_PRIVATE_KEY'] ?? ''
    assert(privateKey.length > 1_000)
    for (const body of sent)
      assert(!new URLSearchParams(body).toString().includes(encodeURIComponent(privateKey)))
    const publicKeys = sent.flatMap((body) => new URLSearchParams(body).get('publicKey') ?? [])
    assert.deepEqual(
      publicKeys.map(
        (key) => createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' }).type,
      ),
      ['public'],
    )

    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download private.pem' }).click()
    const pem = readFileSync(await (await downloading).path(), 'utf8')
    const tillgate = Tillgate.fromEnvironment({ ...env, TILLGATE_PRIVATE_KEY: pem })
    assert.equal((await tillgate.orders.query({ orderNo: 'A-1' })).status, 'pending')
    assert.deepEqual(troubles, [])
  })
}

test('the ready .env is copied by one tap', async () => {
  const { page } = await openPage(browser, { ...desktop, permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${gateway.url}/sandbox`)
  await page.getByLabel('Name of your shop').fill('Tea House')
  await page.getByRole('button', { name: 'Get access' }).click()
  await page.getByRole('button', { name: 'Copy the .env' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const copied = parseEnv((await page.evaluate('navigator.clipboard.readText()')) as string)
  assert.equal(copied['TILLGATE_GATEWAY_URL'], gateway.url)
})

test('a form that comes back keeps the pair that was made, and the focus is where the problem is', async () => {
  const { page } = await openPage(browser, desktop)
  const keys: string[] = []
  page.on('request', (request) => {
    const key = new URLSearchParams(request.postData() ?? '').get('publicKey')
    if (key) keys.push(key)
  })
  await page.goto(`${gateway.url}/sandbox`)
  await page.getByLabel('Name of your shop').fill('Tea\u202eHouse')
  await page.getByRole('button', { name: 'Get access' }).click()
  await page.getByText('A name has at most 64 characters').waitFor()
  assert.equal(await page.evaluate('document.activeElement.id'), 'name')
  assert.equal(await page.locator('#own-key').getAttribute('open'), null)
  await page.getByLabel('Name of your shop').fill('Tea House')
  await page.getByRole('button', { name: 'Get access' }).click()
  await page.getByRole('heading', { name: 'Tea House can take test payments' }).waitFor()
  assert.equal(keys.length, 2)
  assert.equal(keys[0], keys[1])
})

test('without a script a pasted public key does it', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const { page } = await openPage(browser, { ...phone, javaScriptEnabled: false })
  await page.goto(`${gateway.url}/sandbox`)
  await page.getByLabel('Name of your shop').fill('Paper House')
  await page.getByLabel('Public key').fill(publicKey)
  await page.getByRole('button', { name: 'Get access' }).click()
  const { TILLGATE_PRIVATE_KEY_FILE: _, ...env } = parseEnv((await page.locator('#env').textContent()) ?? '')
  const tillgate = Tillgate.fromEnvironment({ ...env, TILLGATE_PRIVATE_KEY: privateKey })
  assert.equal((await tillgate.orders.create(order)).status, 'pending')
})
