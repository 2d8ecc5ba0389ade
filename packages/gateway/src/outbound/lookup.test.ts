import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseUrlPolicy } from '../domain/url-rules.ts'
import { type DnsResolver, makeSystemLookup } from './lookup.ts'

const live = parseUrlPolicy({ mode: 'live', allowedTargets: [] })

// Answers A and AAAA from what it is given; a string instead of addresses is an error's code.
function resolver(a: string[] | string, aaaa: string[] | string, asked: string[] = []): DnsResolver {
  const answer = (given: string[] | string) => (hostname: string) => {
    asked.push(hostname)
    if (typeof given !== 'string') return Promise.resolve(given)
    return Promise.reject(Object.assign(new Error(given), { code: given }))
  }
  // Safe: the overloads that answer with times to live are not used.
  return { resolve4: answer(a), resolve6: answer(aaaa) } as DnsResolver
}

test('all addresses of both families are answered, IPv4 first', async () => {
  const lookup = makeSystemLookup(live, resolver(['93.184.215.14', '8.8.8.8'], ['2606:4700::1']))
  assert.deepEqual(await lookup('shop.example'), ['93.184.215.14', '8.8.8.8', '2606:4700::1'])
})

test('a name of one family is answered though the other fails', async () => {
  assert.deepEqual(await makeSystemLookup(live, resolver(['8.8.8.8'], 'ENODATA'))('a.example'), ['8.8.8.8'])
  assert.deepEqual(await makeSystemLookup(live, resolver('ETIMEOUT', ['2606:4700::1']))('a.example'), [
    '2606:4700::1',
  ])
})

test('a name of no family is an error', async () => {
  await assert.rejects(makeSystemLookup(live, resolver('ENOTFOUND', 'ENODATA'))('a.example'), {
    code: 'ENOTFOUND',
  })
})

test('lookups of one name at one time ask once, a later one asks again', async () => {
  const asked: string[] = []
  const lookup = makeSystemLookup(live, resolver(['8.8.8.8'], [], asked))
  await Promise.all([lookup('a.example'), lookup('a.example'), lookup('b.example')])
  assert.deepEqual(asked, ['a.example', 'a.example', 'b.example', 'b.example'])
  await lookup('a.example')
  assert.equal(asked.length, 6)
})

test('a failed lookup is not remembered', async () => {
  const failing = resolver('ESERVFAIL', 'ESERVFAIL')
  const lookup = makeSystemLookup(live, failing)
  await assert.rejects(lookup('a.example'))
  Object.assign(failing, resolver(['8.8.8.8'], []))
  assert.deepEqual(await lookup('a.example'), ['8.8.8.8'])
})

test('the sandbox and listed names resolve as the machine does, hosts file included', async () => {
  const asked: string[] = []
  const dns = resolver('ENOTFOUND', 'ENOTFOUND', asked)
  const sandbox = parseUrlPolicy({ mode: 'sandbox', allowedTargets: [] })
  const listing = parseUrlPolicy({ mode: 'live', allowedTargets: ['localhost:3000'] })
  for (const policy of [sandbox, listing]) {
    const addresses = await makeSystemLookup(policy, dns)('localhost')
    assert(addresses.includes('127.0.0.1') || addresses.includes('::1'), addresses.join())
  }
  assert.deepEqual(asked, [])
})
