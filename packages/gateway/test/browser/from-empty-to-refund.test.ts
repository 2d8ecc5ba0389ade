// From an empty live gateway to the bill of a payment and its refund, as people do it: a shop applies in its browser and makes its key there, an operator
// approves in the console, the password is set by the link of the mail that the SMTP server got, a consumer pays an order
// that the SDK created, the shop sees it and refunds it in the portal, and reads the day's bill there and in its program.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { request as forward } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { Tillgate } from '../../../sdk/src/index.ts'
import { reachingAll } from '../../src/core/authority/context.ts'
import { actingAs } from '../support/acting.ts'
import { desktop, launchBrowser, openPage, phone } from '../support/browser.ts'
import { until } from '../support/callbacks.ts'
import { makeSelfSigned } from '../support/certificates.ts'
import { signIn } from '../support/console-browser.ts'
import { startTestGateway } from '../support/gateway.ts'
import { startMailServer, textOf } from '../support/mail-server.ts'
import { memberPassword } from '../support/portal.ts'
import { operatorPassword } from '../support/started.ts'

const dayMs = 86_400_000
const mail = await startMailServer()
/** What speaks https in front of a live gateway. */
let behind = ''
const proxy = createServer(makeSelfSigned(['DNS:localhost']), (request, reply) => {
  const { method, headers, url } = request
  const passed = { ...headers, 'x-forwarded-proto': 'https', 'x-forwarded-host': headers.host }
  request.pipe(
    forward(behind + url, { method, headers: passed }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(reply)
    }),
  )
})
await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
const publicUrl = `https://localhost:${(proxy.address() as AddressInfo).port}`
const gateway = await startTestGateway({
  environment: {
    MODE: 'live',
    PUBLIC_URL: publicUrl,
    TRUSTED_PROXIES: '127.0.0.1',
    APPLICATIONS: 'on',
    SMTP_URL: mail.url,
    SMTP_FROM: 'no-reply@pay.test',
  },
})
behind = gateway.url
const browser = await launchBrowser()
after(() => {
  proxy.close()
  proxy.closeAllConnections()
})

test('apply, approve, set the password by mail, make keys, take a payment, see it, refund it, read the bill', async () => {
  const email = 'ann@tea.example'
  const { page: shop, troubles } = await openPage(browser, { ...phone, ignoreHTTPSErrors: true })
  const sent: string[] = []
  shop.on('request', (request) => sent.push(request.postData() ?? ''))

  // The shop applies, with a key that is made in its browser.
  await shop.goto(`${publicUrl}/merchant/sign-in`)
  await shop.getByRole('link', { name: 'Become a merchant' }).click()
  for (const [name, text] of Object.entries({
    business: 'Tea House',
    contact: 'Ann',
    email,
    website: 'https://tea.example',
    about: 'Tea and cups',
  }))
    await shop.locator(`[name=${name}]`).fill(text)
  await shop.getByRole('button', { name: 'Generate a key pair in this browser' }).click()
  const saving = shop.waitForEvent('download')
  await shop.getByRole('link', { name: 'Save the private key' }).click()
  const privateKey = readFileSync(await (await saving).path(), 'utf8')
  await shop.getByRole('button', { name: 'Apply' }).click()
  await shop.getByText('Your application is being reviewed.').waitFor()

  // An operator approves.
  const { page: console } = await signIn(browser, gateway, desktop)
  await console.goto(`${gateway.adminUrl}/applications`)
  await console.getByRole('link', { name: 'Tea House' }).click()
  await console.getByText('Approve…').click()
  await console.getByLabel('Your password').fill(operatorPassword)
  await console.getByRole('button', { name: 'Approve', exact: true }).click()
  await console.getByText('The application is approved').waitFor()

  // The mail brings the link; the password opens the portal, and the AES key is shown this once.
  let link = ''
  await until(() => {
    const mailed = mail.received.findLast(({ to }) => to === email)
    link = /https:\/\/\S*\/merchant\/join\/[\w-]{43}/.exec(mailed ? textOf(mailed.raw) : '')?.[0] ?? ''
    return link !== ''
  })
  await shop.goto(link)
  await shop.getByLabel('Password', { exact: true }).fill(memberPassword)
  await shop.getByLabel('Confirm password').fill(memberPassword)
  await shop.getByRole('button', { name: 'Join' }).click()
  const aesKey = (await shop.locator('.secret code').textContent()) ?? ''
  await shop.getByRole('link', { name: 'Go to the portal' }).click()
  await shop.goto(`${publicUrl}/merchant/settings`)
  const [{ merchantId } = { merchantId: '' }] = await gateway.stores.members.listMemberships(email)
  await shop.getByText(merchantId).waitFor()
  assert.ok(!sent.some((body) => decodeURIComponent(body).includes('PRIVATE KEY')))

  // Its program creates an order.
  const tillgate = new Tillgate({
    gatewayUrl: gateway.url,
    merchantId,
    aesKey,
    privateKey,
    platformPublicKey: await gateway.operations.platformPublicKey(),
    // The bill's address is the public one, whose certificate is the test's own.
    fetch: (url, init) => fetch(String(url).replace(publicUrl, gateway.url), init),
  })
  const { paymentId, checkoutUrl } = await tillgate.orders.create({
    order: {
      orderNo: 'first',
      orderAmount: '12.50',
      orderDescription: 'Two teas',
      goods: [{ referenceGoodsId: 'tea-1', goodsName: 'Green tea', goodsAmount: '12.50', goodsQuantity: 1 }],
    },
    paymentAmount: '12.50',
    currency: 'USD',
  })

  // A consumer with a wallet pays it.
  const { wallets } = actingAs(gateway.operations, 'test')
  const consumer = { login: 'mira@wallet.example', pin: '482951' }
  const { wallet } = await wallets.addWallet({ ...consumer, name: 'Mira Consumer', reason: 'test' })
  const topUp = { currency: 'USD', amountMinor: 100_000n, reason: 'test' }
  await wallets.topUp({ wallet: wallet.walletId, ...topUp })
  const { page: buyer } = await openPage(browser, { ...phone, ignoreHTTPSErrors: true })
  await buyer.goto(checkoutUrl)
  if (!(await buyer.getByLabel('PIN').isVisible())) await buyer.locator('summary.tile').click()
  await buyer.getByLabel('Email or phone number').fill(consumer.login)
  await buyer.getByLabel('PIN').fill(consumer.pin)
  await buyer.getByRole('button', { name: 'Continue' }).click()
  await buyer.getByRole('button', { name: /^Pay/ }).click()
  await buyer.getByRole('heading', { name: 'Payment successful' }).waitFor()
  assert.equal((await tillgate.orders.query(paymentId)).paymentStatus, 'success')

  // The shop sees it on its phone, and gives the money back.
  await shop.goto(`${publicUrl}/merchant/orders`)
  await shop.locator(`a[href$="${paymentId}"]`).first().click()
  await shop.getByRole('link', { name: 'Refund' }).click()
  await shop.locator('[name=reason]').fill('the cup broke')
  await shop.locator('[name=amount]').fill('12.50')
  await shop.locator('main').getByRole('button', { name: 'Refund' }).click()
  await shop.getByText('Refund started.').waitFor()
  await until(async () => {
    const found = await gateway.operations.showOrder(reachingAll('test'), { merchantId, paymentId })
    return found?.refunds.some(({ status }) => status === 'refund_success') ?? false
  })

  // Two days later it reads the bill of that day, in the portal and by its program.
  const day = new Date(Date.now() - 2 * dayMs).toISOString().slice(0, 10)
  await gateway.pool.query('update transfers set made_at = made_at - $2::bigint where merchant_id = $1', [
    merchantId,
    2 * dayMs,
  ])
  await gateway.pool.query("update bill_turns set next_day = '1970-01-01' where merchant_id = $1", [
    merchantId,
  ])
  // The gateway's own worker may be at it.
  await until(async () => {
    await gateway.operations.makeBills()
    return gateway.operations.readBill({ merchantId, day }).then(Boolean, () => false)
  })
  await shop.goto(`${publicUrl}/merchant/bills`)
  const sums = await shop.locator('main section', { hasText: day }).innerText()
  assert.match(sums, /Payments\s+\$12\.50.*Refunds\s+[-−]\$12\.50.*\$0\.00/s)
  const bill = await tillgate.bills.get(day)
  assert.deepEqual(
    [...bill.lines()].map(({ kind, orderNo, amount }) => [kind, orderNo, amount]),
    [
      ['payment', 'first', '12.50'],
      ['refund', 'first', '-12.50'],
    ],
  )
  const saved = shop.waitForEvent('download')
  await shop.getByRole('link', { name: day }).click()
  assert.equal(readFileSync(await (await saved).path(), 'utf8'), bill.csv)
  assert.deepEqual(troubles, [])
})
