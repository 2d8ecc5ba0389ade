// PostgreSQL keeps no NUL in a text. Wherever a request can bring one, it is refused as the sender's mistake.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reachingAll } from '../../src/core/authority/context.ts'
import { scopeNames } from '../../src/identity/operators/rules/api-token.ts'
import { ApiClient } from '../support/admin-api.ts'
import { openCheckoutShop, Visitor } from '../support/checkout.ts'
import { ConsoleClient } from '../support/console.ts'

const shop = await openCheckoutShop()
const { gateway, merchant } = shop
const nul = 'a\0b'
const inAddress = encodeURIComponent(nul)

test('a login with a NUL at the checkout is refused with 400, and the order can still be paid', async () => {
  const visitor = new Visitor(await shop.order())
  await visitor.look()
  for (const fields of [
    { login: nul, pin: '123456' },
    { login: 'mira@wallet.example', pin: nul },
  ])
    assert.equal((await visitor.post('sign-in', fields)).status, 400)
  assert.equal((await visitor.post('pay-with-test-wallet', { wallet: nul })).status, 400)
  assert.equal((await visitor.get(`?lang=${inAddress}`)).status, 400)
  assert.match(await visitor.look(), /<form/)
  const { url } = await shop.order()
  assert.equal((await fetch(url.replace(/[^/]+$/, inAddress))).status, 400)
})

test('a NUL in a filter, a path or a form of the console is refused with what is wrong', async () => {
  const admin = new ConsoleClient(gateway)
  assert.equal((await admin.signIn(nul)).status, 400)
  await admin.signIn()
  const paths = [
    `/find?q=${inAddress}`,
    `/orders?merchant=${inAddress}`,
    `/orders.csv?merchant=${inAddress}`,
    `/callbacks?host=${inAddress}`,
    `/audit?subject=${inAddress}`,
    `/merchants?q=${inAddress}`,
    `/wallets?q=${inAddress}`,
    `/merchants/${inAddress}`,
    `/orders/${merchant.merchantId}/${inAddress}`,
  ]
  for (const path of paths) {
    const { status, text } = await admin.get(path)
    assert.equal(status, 400, path)
    assert.match(text, /NUL/, path)
  }
  const added = await admin.post('/merchants', { name: nul, publicKey: '', reason: nul })
  assert.equal(added.status, 400)
  assert.match(added.text, /NUL/)
})

test('a NUL in the admin API is 40001, in the address and in a body', async () => {
  const given = { login: 'admin', name: 'tests', scopes: scopeNames, days: 1 }
  const { token } = await gateway.operations.apiTokens.addToken(reachingAll('test'), given)
  const api = new ApiClient(gateway, token)
  const { merchantId } = merchant
  for (const [id, request] of [
    ['order.search', { query: { q: nul } }],
    ['audit.list', { query: { subject: nul } }],
    ['merchant.show', { params: { merchantId: nul } }],
    ['wallet.show', { params: { wallet: nul } }],
    ['wallet.add', { body: { login: nul, name: 'Mira', pin: '123456', reason: 'test' } }],
    ['key.add', { params: { merchantId }, body: { algorithm: 'RSA', publicKey: nul, reason: 'test' } }],
  ] as const) {
    const { code, text } = await api.call(id, request)
    assert.equal(code, 40001, `${id}: ${text}`)
  }
})
