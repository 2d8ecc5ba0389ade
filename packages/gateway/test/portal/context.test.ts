// How far a context reaches is a type: what follows is held by the compiler, and by the stores where it is run.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import { type MerchantContext, reachingAll } from '../../src/core/authority/context.ts'
import { freshDatabase } from '../support/database.ts'
import { testOperations } from '../support/operations.ts'

const { pool } = await freshDatabase()
const { operations } = testOperations(pool)
const any = reachingAll('test')
const made = await Promise.all(
  ['Tea House', 'Book Shop'].map((name) => operations.merchants.addMerchant(any, { name })),
)
const [own = '', other = ''] = made.map(({ merchant }) => merchant.merchantId)
const within: MerchantContext = { actor: 'member:ann@shop.example', merchantId: own }

test('a context of one merchant does not compile where several merchants can be reached', () => {
  const never: readonly (() => unknown)[] = [
    // @ts-expect-error It lists every merchant.
    () => operations.merchants.listMerchants(within, { limit: 10 }),
    // @ts-expect-error It makes another merchant.
    () => operations.merchants.addMerchant(within, { name: 'Third' }),
    // @ts-expect-error It sends the callbacks of all merchants again.
    () => operations.callbacks.resendMatching(within, {}, { perSecond: 1, reason: 'test' }),
    // @ts-expect-error Wallets are of no merchant.
    () => operations.wallets.lockWallet(within, 'mira', 'test'),
    // @ts-expect-error Rails are of no merchant.
    () => operations.rails.listRails(within),
    // @ts-expect-error Payouts are listed for every merchant.
    () => operations.payouts.listPayouts(within, {}, { limit: 10 }),
    // @ts-expect-error A merchant's context cannot be widened.
    () => reachingAll(within),
  ]
  assert.equal(never.length, 7)
})

test('a context of one merchant finds nothing of another, whatever the input names', async () => {
  const { merchants, endpoints, links, members } = operations
  assert.equal((await merchants.showMerchant(within, own)).merchant.name, 'Tea House')
  const asked = [
    () => merchants.showMerchant(within, other),
    () => merchants.addKey(within, other, { kind: 'aes' }),
    () => endpoints.listEndpoints(within, other),
    () => links.listLinks(within, { merchantId: other, limit: 10 }),
    () => members.inviteMember(within, { merchantId: other, email: 'ann@shop.example', role: 'owner' }),
  ]
  for (const ask of asked)
    await assert.rejects(
      async () => ask(),
      (error) => error instanceof Failure && error.failure === 'not_found',
    )
})

test('an operation whose input names no merchant runs within no merchant’s context', async () => {
  await assert.rejects(async () => operations.links.listLinks(within, { limit: 10 }), /names no merchant/)
  assert.deepEqual(await operations.links.listLinks(any, { limit: 10 }), [])
})
