// The playground in a real browser against a real gateway: from keys that never leave the tab to a callback opened.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { requestStringToSign } from '@tillgate/protocol'
import type { Page } from 'playwright-core'
import { desktop, launchBrowser, openPage, phone } from '../support/browser.ts'
import { startTestGateway } from '../support/gateway.ts'
import { look } from '../support/look.ts'

const gateway = await startTestGateway()
const browser = await launchBrowser()

async function choose(page: Page, method: string): Promise<void> {
  await page.getByLabel('method').selectOption(method)
}

async function send(page: Page): Promise<{ status: string; code: number; data: Record<string, string> }> {
  await page.evaluate('document.querySelector("#answer").textContent = ""')
  await page.getByRole('button', { name: 'Send the request' }).click()
  await page.locator('#answer', { hasText: '}' }).waitFor()
  const [status = '', ...lines] = ((await page.locator('#answer').textContent()) ?? '').split('\n')
  return { status, ...JSON.parse(lines.join('\n')) }
}

test('keys of one’s own go from the access page to a request that is accepted and a callback that opens', async () => {
  const { page, troubles } = await openPage(browser, { ...desktop, colorScheme: 'light' })
  const sent: string[] = []
  page.on('request', (request) => sent.push(request.postData() ?? ''))
  await page.goto(gateway.url)
  await page.getByRole('link', { name: 'get sandbox access' }).click()
  await page.getByLabel('Name of your shop').fill('Tea House')
  await page.getByRole('button', { name: 'Get access' }).click()
  const env = parseEnv((await page.locator('#env').textContent()) ?? '')
  await page.getByRole('link', { name: 'Try them in the playground' }).click()
  const merchantId = env['TILLGATE_MERCHANT_ID'] ?? ''
  await page.getByText(`Keys of merchant ${merchantId} are ready.`).waitFor()
  await page.locator('#envelope', { hasText: merchantId }).waitFor()

  // The steps are those of the protocol, to the letter.
  const body = await page.getByLabel('The request body').inputValue()
  const envelope = JSON.parse((await page.locator('#envelope').textContent()) ?? '')
  const string = await page.locator('#string').textContent()
  const { method } = envelope
  assert.equal(string, requestStringToSign({ merchantId, method, timestamp: `${envelope.timestamp}` }, body))
  assert.equal(await page.locator('#sign').textContent(), envelope.sign)

  const created = await send(page)
  assert.deepEqual([created.status, created.code, created.data['status']], ['HTTP 200', 20000, 'pending'])
  assert.equal(
    await page.getByRole('link', { name: 'Pay it on the checkout' }).getAttribute('href'),
    created.data['checkoutUrl'],
  )
  await choose(page, 'service.sandbox.pay')
  assert.equal((await send(page)).data['paymentId'], created.data['paymentId'])

  await page.getByRole('button', { name: 'Load the latest callback' }).click()
  await page.getByText('Genuine: it was signed by the gateway').waitFor()
  const opened = JSON.parse((await page.locator('#opened').textContent()) ?? '')
  assert.equal(opened.paymentId, created.data['paymentId'])
  assert.match((await page.locator('#verified').textContent()) ?? '', /&eventName=payment\.order\./)
  await look(page, 'playground-desktop-light')

  // One letter of what was signed is another.
  const callback = page.getByLabel('What the gateway posted to you')
  await callback.fill(
    (await callback.inputValue()).replace(/"timestamp": "(\d{12})\d"/, '"timestamp": "$10"'),
  )
  const changed = JSON.parse(await callback.inputValue())
  await callback.fill(JSON.stringify({ ...changed, eventName: 'payment.order.timeout' }))
  await page.getByText('The signature is not the gateway’s').waitFor()
  assert.equal(await page.locator('#opened').textContent(), '')
  await callback.fill(JSON.stringify({ ...changed, body: `AAAA${changed.body.slice(4)}` }))
  await page.getByText('does not open with your AES key').waitFor()

  // What was sent opens with the merchant's keys, and holds no secret.
  const [privateKey = '', aesKey = ''] = [env['TILLGATE_PRIVATE_KEY'], env['TILLGATE_AES_KEY']]
  assert(privateKey.length > 1_000 && aesKey.length === 44)
  for (const text of sent) assert(!text.includes(privateKey.slice(100, 150)) && !text.includes(aesKey))

  await page.getByRole('button', { name: 'Forget the keys' }).click()
  await page.reload()
  assert.equal(await page.getByLabel('Credentials').inputValue(), '')
  assert.equal(await page.getByRole('button', { name: 'Send the request' }).isDisabled(), true)
  assert.deepEqual(troubles, [])
})

test('a pasted file of credentials works, what is wrong is said, and an answer of refusal is shown', async () => {
  const merchant = await gateway.addMerchant()
  const { keys } = (await (await fetch(`${gateway.url}/platform-keys`)).json()) as {
    keys: { publicKey: string }[]
  }
  const credentials = {
    merchantId: merchant.merchantId,
    aesKey: merchant.aesKey.export().toString('base64'),
    privateKey: merchant.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    platformPublicKey: keys[0]?.publicKey,
  }
  const { page, troubles } = await openPage(browser, { ...phone, colorScheme: 'dark' })
  await page.goto(`${gateway.url}/sandbox/playground`)
  const field = page.getByLabel('Credentials')
  await field.fill('{"merchantId": "1"}')
  await page.getByText('These are missing: aesKey, privateKey, platformPublicKey.').waitFor()
  await field.fill(JSON.stringify({ ...credentials, privateKey: 'AAAA' }))
  await page.getByText('privateKey is not a key of its kind.').waitFor()
  await field.fill(JSON.stringify(credentials))
  await page.getByText('are ready').waitFor()
  await look(page, 'playground-phone-dark')

  await choose(page, 'service.trade.query')
  const body = page.getByLabel('The request body')
  await body.fill('{"paymentId":"P01K73ZQ800JZ7V3N4Q5R6S7T8W"}')
  assert.equal((await send(page)).code, 40400)
  await body.fill('{oops')
  await page.getByText('This is no JSON').waitFor()
  assert.equal((await send(page)).code, 40001)
  // Chromium notes every answer of 4xx as an error of its console.
  assert.deepEqual(
    troubles.filter((trouble) => !trouble.includes('status of 4')),
    [],
  )
})

test('without a script the page says so; it holds no key of anybody', async () => {
  const response = await fetch(`${gateway.url}/sandbox/playground`)
  const text = await response.text()
  assert.match(text, /<noscript>/)
  assert.match(
    response.headers.get('content-security-policy') ?? '',
    /script-src 'nonce-[^']+'; connect-src 'self'/,
  )
  assert.doesNotMatch(text, /BEGIN [A-Z ]*PRIVATE KEY/)
})
