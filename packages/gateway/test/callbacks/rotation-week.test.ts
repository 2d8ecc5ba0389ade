// A week in which a merchant with two servers replaces its AES key and then its RSA key, as docs/sdk.md describes it, with
// everything that goes wrong on the way. Orders are paid every day, and no callback is rejected.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { otherPair } from '../../../protocol/test/keys.ts'
import { recentUseMs, recordedEveryMs } from '../../src/core/merchants/rules/key-use.ts'
import { actingAs } from '../support/acting.ts'
import { until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { databaseOf, runCommand } from '../support/command.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import { memberOf, memberPassword as password } from '../support/portal.ts'
import { startRotatingMerchant } from '../support/rotating-merchant.ts'

// The command line looks at the real clock.
const clock = new TestClock(Date.now())
const gateway = await startTestGateway({ clock })
const beside = await startTestGateway({ clock, share: gateway })
const dayMs = 86_400_000
const forgottenMs = 5_000

test('a week of rotation: every mistake is caught before it breaks something, and no callback is rejected', async () => {
  const merchant = await startRotatingMerchant(gateway, beside)
  const { merchantId } = merchant
  const oldKey = merchant.servers[0]?.[0] ?? ''
  merchant.servers = [[oldKey], [oldKey]]
  const { client: developer, email } = await memberOf(gateway, merchantId, 'developer')
  await actingAs(gateway.operations, 'test').operators.addOperator({ login: 'week', role: 'admin', password })
  const operator = new ConsoleClient(gateway)
  const keys = async (kind: 'aes' | 'rsa') =>
    (await gateway.merchants.showMerchant(merchantId)).keys.filter((key) => key.kind === kind)
  const newDay = async () => {
    clock.advance(dayMs)
    await developer.signIn(email)
    await operator.signIn('week', password)
    for (let order = 0; order < 4; order++) await merchant.keysOfCallbacks()
    assert.equal(merchant.rejected(), 0)
  }
  const currentStep = async () =>
    [
      ...(await developer.get('/merchant/keys')).text.matchAll(
        /<li aria-current="step"><strong>(.*?)<\/strong>/g,
      ),
    ]
      .map(([, text = '']) => text.replace(/<[^>]+>/g, ''))
      .join(' ')

  // Monday: the developer makes a new key in the portal, and nothing changes for callbacks.
  await newDay()
  const made = await developer.post('/merchant/keys/aes', { password }, { on: '/merchant/keys/aes' })
  const [, newKey = ''] = /<p class="secret"><code>([^<]+)/.exec(made.text) ?? []
  assert.equal(newKey.length, 44)
  assert.match(await currentStep(), /first add it as the second key.*Send a request with the new key/)
  const [oldAes, newAes] = await keys('aes')
  const revokeOld = `/merchant/keys/${oldAes?.keyId}/revoke`
  const useNew = `/merchant/keys/${newAes?.keyId}/use-for-callbacks`

  // Tuesday: somebody tidies up too early, at every place where a key can be revoked.
  await newDay()
  const screen = await developer.get(revokeOld)
  assert.match(screen.text, /Callbacks are encrypted with this key\. If you revoke this key/)
  const early = await developer.post(revokeOld, { confirm: 'false' }, { on: revokeOld })
  assert.equal(early.status, 422)
  assert.match(early.text, /The key was not revoked, because it is still needed/)
  const inConsole = `/merchants/${merchantId}/keys/${oldAes?.keyId}/revoke`
  assert.match(await operator.told(inConsole, { reason: 'tidy' }), /Callbacks are encrypted with this key/)
  const command = (...args: string[]) => runCommand(databaseOf(gateway), ['key', ...args])
  const byCommand = await command('revoke', merchantId, oldAes?.keyId ?? '', '--reason', 'tidy')
  assert.notEqual(byCommand.code, 0)
  assert.match(byCommand.err, /still needed.*--confirm on the command line/)

  // Wednesday: the key is added as the second one on both servers. Requests and callbacks stay with the old key.
  merchant.servers = [
    [oldKey, newKey],
    [oldKey, newKey],
  ]
  await newDay()
  assert.equal(merchant.openedWith.includes(newKey), false)

  // Thursday: one server seals with the new key, the other one was forgotten.
  merchant.servers = [
    [newKey, oldKey],
    [oldKey, newKey],
  ]
  await newDay()
  await until(async () => (await keys('aes'))[1]?.sealsCallbacks === true)
  clock.advance(recordedEveryMs)
  for (let order = 0; order < 2; order++) await merchant.keysOfCallbacks()
  clock.advance(2 * recordedEveryMs)
  for (let order = 0; order < 2; order++) await merchant.keysOfCallbacks()
  await until(async () => /Check that no server still uses the old key/.test(await currentStep()))
  const forgotten = await developer.post(revokeOld, {}, { on: revokeOld })
  assert.equal(forgotten.status, 422)
  assert.match(forgotten.text, /Your shop last used this key/)

  // Friday: both servers use the new key, ten minutes pass, and the old one is revoked and then removed.
  merchant.servers = [
    [newKey, oldKey],
    [newKey, oldKey],
  ]
  await newDay()
  clock.advance(recentUseMs)
  assert.equal(await currentStep(), 'Revoke the old key.')
  const list = await command('list', merchantId, '--json')
  assert.equal(JSON.parse(list.out).rotations[0].step, 'revoke')
  const revoked = await developer.post(revokeOld, {}, { on: revokeOld })
  assert.equal(revoked.location, '/merchant/keys')
  clock.advance(forgottenMs)
  merchant.servers = [[newKey], [newKey]]
  await newDay()
  assert.equal(merchant.openedWith.at(-1), newKey)
  assert.equal((await developer.get(useNew)).status, 200)

  // Saturday: the RSA key. The old one is not revoked before the new one has signed a request.
  const publicKey = otherPair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const newRsa = '/merchant/keys/rsa'
  const added = await developer.post(newRsa, { publicKey, password }, { on: newRsa })
  assert.equal(added.location, '/merchant/keys')
  const [oldRsa] = await keys('rsa')
  const revokeRsa = `/merchant/keys/${oldRsa?.keyId}/revoke`
  assert.equal((await developer.post(revokeRsa, {}, { on: revokeRsa })).status, 422)
  clock.advance(forgottenMs)
  merchant.privateKey = otherPair.privateKey
  await newDay()

  // Sunday: the last old key goes, and the audit has the whole week.
  await until(async () => (await keys('rsa'))[1]?.usedAtMs !== undefined)
  const done = await developer.post(revokeRsa, {}, { on: revokeRsa })
  assert.equal(done.location, '/merchant/keys')
  await newDay()
  const { rows } = await gateway.pool.query<{ act: string }>(
    "select act from audit where merchant_id = $1 and act like 'key.%' order by acted_at, audit_id",
    [merchantId],
  )
  assert.deepEqual(
    rows.map(({ act }) => act),
    ['key.add', 'key.in-use', 'key.revoke', 'key.add', 'key.revoke'],
  )
})
