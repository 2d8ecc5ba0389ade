// Whoever has the database or a backup, and not the master key, has no PIN, no password, no checkout link and no other
// bearer secret; and what rested there in the clear before an upgrade goes on working.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { placeOfSecret } from '../../src/app/database/secret-places.ts'
import { reachingAll } from '../../src/core/authority/context.ts'
import { makeRotateMasterKey } from '../../src/core/keys/rotate-master-key.ts'
import { totpCode } from '../../src/identity/accounts/totp.ts'
import { readCatalog } from '../../src/platform/database/catalog.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import { makeVault } from '../../src/platform/runtime/secrets/vault.ts'
import { fromBase32 } from '../support/base32.ts'
import { openCheckoutShop, Visitor } from '../support/checkout.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'
import { operatorPassword } from '../support/started.ts'

const byTest = reachingAll('test')
const shop = await openCheckoutShop()
const { gateway, clock, merchant } = shop

/** Every row of every table, as a backup has it. */
async function contentOf(pool: Pool): Promise<string> {
  const tables = (await readCatalog(pool)).tables.map(({ name }) => name)
  const texts = await Promise.all(
    tables.map(async (name) => {
      const { rows } = await pool.query<{ row: string }>(`select row_to_json(t)::text as row from ${name} t`)
      return rows.map(({ row }) => row)
    }),
  )
  return texts.flat().join('\n')
}

test('no bearer secret is in the database: neither as it is, nor as a hash that can be guessed', async () => {
  const order = await shop.order()
  const consumer = await shop.addWallet()
  const visitor = new Visitor(order)
  await visitor.look()
  await visitor.post('sign-in', consumer)
  assert.match(await visitor.look(), /Signed in as/)

  const admin = new ConsoleClient(gateway)
  await admin.signIn()
  const path = '/account/second-step'
  const begun = await admin.post(`${path}/begin`, { password: operatorPassword }, { on: path })
  const [, shown = ''] = /<p class="secret"><code>([^<]+)</.exec(begun.text) ?? []
  const secret = shown.replaceAll(' ', '')
  const code = totpCode(fromBase32(secret), clock.now())
  const confirmed = await admin.post(`${path}/confirm`, { code }, { on: path })
  const recoveryCodes = [...confirmed.text.matchAll(/<li><code>([a-z0-9-]{17})<\/code>/g)].map(
    ([, each = '']) => each,
  )
  // A code is good once.
  clock.advance(30_000)
  const made = await admin.post(
    '/account/tokens',
    {
      name: 'nightly',
      days: '1',
      scopes: 'orders:read',
      password: operatorPassword,
      code: totpCode(fromBase32(secret), clock.now()),
    },
    { on: '/account/tokens' },
  )
  const [token = ''] = /tillgate_[\w-]{43}/.exec(made.text) ?? []

  const content = await contentOf(gateway.pool)
  const secrets = {
    'checkout token': order.url.split('/').at(-1) ?? '',
    'TOTP secret': fromBase32(secret).toString('hex'),
    'API token': token,
    'AES key': merchant.aesKey.export().toString('hex'),
    ...Object.fromEntries([...visitor.cookies].map(([name, value]) => [`cookie ${name}`, value])),
    ...Object.fromEntries([...admin.cookies].map(([name, value]) => [`console cookie ${name}`, value])),
    ...Object.fromEntries(recoveryCodes.map((each) => [`recovery code ${each}`, each])),
  }
  assert.ok(Object.keys(secrets).length >= 4 + 2 + 1 + 10, JSON.stringify(secrets))
  for (const [name, value] of Object.entries(secrets)) {
    assert.ok(value.length >= 16, `${name}: ${value}`)
    assert.ok(!content.includes(value), name)
  }
  assert.doesNotMatch(content, /scrypt/, 'a PIN of six digits is found from its hash in a day')
})

test('a create that is sent again answers the same link; a changed link leads nowhere', async () => {
  const body = createBody({ now: clock.now() })
  const [first, again] = [
    await merchant.call('service.trade.create', body),
    await merchant.call('service.trade.create', body),
  ]
  assert.equal(again.data.checkoutUrl, first.data.checkoutUrl)
  const path = new URL(first.data.checkoutUrl).pathname
  const other = await shop.order()
  const changed = path.endsWith('A') ? `${path.slice(0, -1)}B` : `${path.slice(0, -1)}A`
  for (const wrong of [changed, path.slice(0, -1), path.replace(first.data.paymentId, other.paymentId)])
    assert.equal((await fetch(gateway.url + wrong)).status, 404, wrong)
  assert.equal((await fetch(gateway.url + path)).status, 200)
})

test('links, PINs and passwords outlive the master key under which they were made', async () => {
  const order = await shop.order()
  const consumer = await shop.addWallet()
  const oldKey = gateway.config.masterKey ?? Buffer.of()
  const newKey = randomBytes(32)
  const gatewayWith = (...keys: Buffer[]) =>
    startTestGateway({
      clock,
      share: gateway,
      environment: { MASTER_KEY: keys.map((key) => key.toString('base64')).join(',') },
    })
  const signsIn = async ({ url }: { url: string }, pathname: string) => {
    const visitor = new Visitor({ url: url + pathname, paymentId: order.paymentId })
    await visitor.look()
    await visitor.post('sign-in', consumer)
    assert.match(await visitor.look(), /Signed in as/)
  }
  const both = await gatewayWith(newKey, oldKey)
  const { pathname } = new URL(order.url)
  await signsIn(both, pathname)

  const rotation = makeRotateMasterKey({
    placeOf: placeOfSecret,
    secrets: gateway.stores.sealedSecrets,
    vault: makeVault(newKey, oldKey),
    clock,
    random: randomBytes,
    batchSize: 3,
  })
  assert.equal((await rotation.rotate(byTest, { reason: 'yearly' })).unknown, 0)
  const last = await gatewayWith(newKey)
  // Made under the new key by the gateway that knew both.
  const envelope = JSON.stringify(
    await merchant.seal('service.trade.create', createBody({ now: clock.now() })),
  )
  const { data } = await both.post('/api/v1/gateway', envelope)
  await signsIn(last, new URL(data.checkoutUrl).pathname)
  const console = new ConsoleClient(last)
  assert.equal((await console.signIn()).status, 303)
  assert.equal((await fetch(last.url + pathname)).status, 404, 'its key is gone')
})
