// A consumer who is signed in at /wallet pays at the checkout with the PIN or a passkey alone; the session by itself pays
// nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actingAs } from '../support/acting.ts'
import { openCheckoutShop, Visitor } from '../support/checkout.ts'
import { WalletClient } from '../support/wallet.ts'

const shop = await openCheckoutShop()
const { gateway } = shop

/** A consumer of a wallet, at /wallet and on the page of a new order in the same browser. */
async function signedIn(consumer?: { login: string; pin: string }) {
  const { login, pin } = consumer ?? (await shop.addWallet())
  const client = new WalletClient(gateway)
  assert.equal((await client.signIn(login, pin)).status, 303)
  const order = await shop.order()
  const visitor = new Visitor(order)
  for (const [name, value] of client.cookies) visitor.cookies.set(name, value)
  const page = await visitor.look()
  const session = /name="session" value="([^"]+)"/.exec(page)?.[1] ?? ''
  return { login, pin, client, order, visitor, page, session }
}

test('the PIN alone pays, once', async () => {
  const { pin, order, visitor, page, session } = await signedIn()
  assert.match(page, /Signed in as <bdi>Mira Consumer/)
  assert.doesNotMatch(page, /name="login"/)
  await Promise.all(Array.from({ length: 5 }, () => visitor.post('pay-with-pin', { pin, session })))
  await shop.waitFor(order, 'success')
  assert.match(await visitor.look(), /You paid/)
  const { rows } = await gateway.pool.query(
    "select 1 from transfers where payment_id = $1 and phase = 'hold'",
    [order.paymentId],
  )
  assert.equal(rows.length, 1)
})

test('a wrong PIN counts, leaves the order pending, and every method in place', async () => {
  const { login, pin, order, visitor, page, session } = await signedIn()
  const methods = (text: string) => [...text.matchAll(/class="tile"/g)].length
  await visitor.post('pay-with-pin', { pin: '999999', session })
  const wrong = await visitor.look()
  assert.match(wrong, /Incorrect PIN\. You have not been charged\..*attempts? left/s)
  assert.equal(methods(wrong), methods(page))
  for (let tries = 0; tries < 5; tries++) await visitor.post('pay-with-pin', { pin: '999998', session })
  assert.match(await visitor.look(), /Too many failed attempts/)
  await visitor.post('pay-with-pin', { pin, session })
  assert.equal(await shop.status(order), 'pending')
  const { rows } = await gateway.pool.query('select locked_until from wallets where login = $1', [login])
  assert.equal(rows.length, 1)
})

test('the session pays nothing without a PIN, a token of the page, or a passkey of this wallet', async () => {
  const { pin, order, visitor, session } = await signedIn()
  await visitor.post('pay', {})
  await visitor.post('pay-with-pin', { session })
  await visitor.post('pay-with-pin', { pin, session, token: 'x' })
  await visitor.post('pay-with-pin', { pin, session }, { 'sec-fetch-site': 'cross-site' })
  await visitor.post('pay-with-pin', { pin, session: 'another' })
  await visitor.post('pay-with-passkey', { session, credential: '{}' })
  assert.equal(await shop.status(order), 'pending')
})

test('a session that ended since the page was shown pays nothing, and one of another wallet neither', async () => {
  const { pin, client, order, visitor, session } = await signedIn()
  await client.send('/wallet/sign-out', {}, '/wallet')
  await visitor.post('pay-with-pin', { pin, session })
  assert.match(await visitor.look(), /You were signed out/)
  const other = await signedIn()
  for (const [name, value] of other.client.cookies) visitor.cookies.set(name, value)
  await visitor.post('pay-with-pin', { pin, session })
  assert.equal(await shop.status(order), 'pending')
})

test('another wallet can be used, and a wallet that an operator locks is not offered', async () => {
  const { login, visitor } = await signedIn()
  assert.match(await visitor.look('?wallet=other'), /name="login"/)
  await actingAs(gateway.operations, 'test').wallets.lockWallet(login, 'test')
  assert.doesNotMatch(await visitor.look(), /Signed in as/)
})
