import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '../../../test/support/clock.ts'
import { parseUrlPolicy } from '../../platform/runtime/ssrf-guard.ts'
import { makeIsNameMissing } from './callback-names.ts'
import type { Merchant } from './rules/merchant.ts'

const urlPolicy = parseUrlPolicy({ mode: 'sandbox', allowedTargets: [] })
// Safe: only this part of a merchant is read.
const merchant = { isSelfRegistered: false } as Merchant
const gone = Object.assign(new Error('none'), { code: 'ENOTFOUND' })
const url = 'https://shop.invalid/callbacks'

function names(lookup: (hostname: string) => Promise<readonly string[]>) {
  const clock = new TestClock(1_800_000_000_000)
  const asked: string[] = []
  const isMissing = makeIsNameMissing({
    lookup: (hostname) => {
      asked.push(hostname)
      return lookup(hostname)
    },
    urlPolicy,
    clock,
  })
  return { clock, asked, isMissing: async (callbackUrl: string) => isMissing(callbackUrl, merchant) }
}

test('a host that DNS does not have is missing, and is looked up once a minute', async () => {
  const { clock, asked, isMissing } = names(() => Promise.reject(gone))
  assert.deepEqual([await isMissing(url), await isMissing(url)], [true, true])
  clock.advance(59_999)
  assert.equal(await isMissing(url), true)
  assert.deepEqual(asked, ['shop.invalid'])
  clock.advance(1)
  await isMissing(url)
  assert.equal(asked.length, 2)
})

test('a host is looked up once for all its URLs', async () => {
  const { asked, isMissing } = names(() => Promise.reject(gone))
  for (let order = 0; order < 3; order++)
    assert.equal(await isMissing(`https://shop.invalid/orders/${order}`), true)
  assert.deepEqual(asked, ['shop.invalid'])
})

test('a host that resolves is not looked up again for ten minutes', async () => {
  const { clock, asked, isMissing } = names(async () => ['192.0.2.1'])
  assert.equal(await isMissing(url), false)
  clock.advance(599_999)
  assert.equal(await isMissing(url), false)
  assert.equal(asked.length, 1)
})

test('a DNS failure or timeout is not a missing host', async () => {
  const broken = names(() => Promise.reject(Object.assign(new Error('away'), { code: 'EAI_AGAIN' })))
  assert.equal(await broken.isMissing(url), false)
  const slow = names(() => new Promise(() => {}))
  assert.equal(await slow.isMissing(url), false)
})

test('one host is looked up at a time, and IP addresses are never looked up', async () => {
  const { asked, isMissing } = names(() => new Promise(() => {}))
  void isMissing(url)
  assert.equal(await isMissing('https://other.invalid/'), false)
  for (const literal of ['http://127.0.0.1:9/', 'http://[::1]/'])
    assert.equal(await isMissing(literal), false)
  assert.deepEqual(asked, ['shop.invalid'])
})
