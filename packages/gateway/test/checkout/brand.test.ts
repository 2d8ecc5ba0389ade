// Who runs the gateway, on every page that takes a payment: where the operator said it, and nowhere else.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readBrand } from '../../src/adapters/checkout/brand.ts'
import { StartFailure } from '../../src/platform/runtime/start-failure.ts'
import { openCheckoutShop, Visitor } from '../support/checkout.ts'

const folder = mkdtempSync(join(tmpdir(), 'tillgate-brand-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const logoFile = join(folder, 'mark.svg')
writeFileSync(
  logoFile,
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8H0z"/></svg>',
)

test('name, mark, help, privacy and imprint stand on the checkout and on a payment link', async () => {
  const shop = await openCheckoutShop({
    environment: {
      OPERATOR_NAME: 'Harbour <Wallet>',
      OPERATOR_LOGO_FILE: logoFile,
      OPERATOR_HELP_URL: 'mailto:help@wallet.example',
      OPERATOR_PRIVACY_URL: 'https://wallet.example/privacy?lang=en',
      OPERATOR_IMPRINT_URL: 'https://wallet.example/imprint',
    },
  })
  const link = await shop.merchant.call('service.link.create', {
    linkNo: 'brand',
    title: 'Tea',
    currency: 'EUR',
    amount: 1,
  })
  const linkUrl = shop.gateway.url + new URL(link.data.linkUrl).pathname
  const missing = `${shop.gateway.url}/checkout/1/2/3`
  for (const url of [(await shop.order()).url, linkUrl, missing]) {
    const page = await new Visitor({ url, paymentId: '' }).look()
    assert.match(page, /<bdi>Harbour &lt;Wallet&gt;<\/bdi>/, url)
    assert.match(page, /href="mailto:help@wallet\.example"[^>]*>Help</)
    assert.match(page, /href="https:\/\/wallet\.example\/privacy\?lang=en"[^>]*>Privacy</)
    assert.match(page, /href="https:\/\/wallet\.example\/imprint"[^>]*>Imprint</)
    const [, mark = ''] = /class="brand"><img src="([^"]+)"/.exec(page) ?? []
    const image = await fetch(shop.gateway.url + mark)
    assert.equal(image.headers.get('content-type'), 'image/svg+xml')
    assert.match(image.headers.get('content-security-policy') ?? '', /sandbox/)
  }
})

test('a mark that is no image stops the start, and says which setting it is', () => {
  const place = { country: 'ZZ', city: 'Online' }
  const none = { name: undefined, helpUrl: undefined, privacyUrl: undefined, imprintUrl: undefined, place }
  const bad = join(folder, 'bad.svg')
  writeFileSync(bad, 'hello')
  for (const file of [bad, join(folder, 'nowhere.svg')])
    assert.throws(
      () => readBrand({ ...none, logoFile: file }),
      (error) => error instanceof StartFailure && /OPERATOR_LOGO_FILE/.test(error.message),
    )
})
