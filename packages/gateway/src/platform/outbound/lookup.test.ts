import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { promises } from 'node:dns'
import { once } from 'node:events'
import { test } from 'node:test'
import { parseUrlPolicy, type UrlPolicy } from '../runtime/ssrf-guard.ts'
import { type DnsResolver, makeSystemLookup } from './lookup.ts'

const live = parseUrlPolicy({ mode: 'live', allowedTargets: [] })

const lookupOf = (policy: UrlPolicy, dns: DnsResolver) => {
  const lookup = makeSystemLookup(dns)
  return (hostname: string) => lookup(hostname, policy)
}

// Returns the given A and AAAA records; a string instead of addresses is an error's code.
function resolver(a: string[] | string, aaaa: string[] | string, asked: string[] = []): DnsResolver {
  const answer = (given: string[] | string) => (hostname: string) => {
    asked.push(hostname)
    if (typeof given !== 'string') return Promise.resolve(given)
    return Promise.reject(Object.assign(new Error(given), { code: given }))
  }
  // Safe: the overloads with times to live are not used.
  return { resolve4: answer(a), resolve6: answer(aaaa) } as DnsResolver
}

test('all addresses of both families are returned, IPv4 first', async () => {
  const lookup = lookupOf(live, resolver(['93.184.215.14', '8.8.8.8'], ['2606:4700::1']))
  assert.deepEqual(await lookup('shop.example'), ['93.184.215.14', '8.8.8.8', '2606:4700::1'])
})

test('a name in one family is found even if the other lookup fails', async () => {
  assert.deepEqual(await lookupOf(live, resolver(['8.8.8.8'], 'ENODATA'))('a.example'), ['8.8.8.8'])
  assert.deepEqual(await lookupOf(live, resolver('ETIMEOUT', ['2606:4700::1']))('a.example'), [
    '2606:4700::1',
  ])
})

test('a name in neither family is an error', async () => {
  await assert.rejects(lookupOf(live, resolver('ENOTFOUND', 'ENODATA'))('a.example'), {
    code: 'ENOTFOUND',
  })
})

test('concurrent lookups of one name share one query, later ones query again', async () => {
  const asked: string[] = []
  const lookup = lookupOf(live, resolver(['8.8.8.8'], [], asked))
  await Promise.all([lookup('a.example'), lookup('a.example'), lookup('b.example')])
  assert.deepEqual(asked, ['a.example', 'a.example', 'b.example', 'b.example'])
  await lookup('a.example')
  assert.equal(asked.length, 6)
})

test('a failed lookup is not cached', async () => {
  const failing = resolver('ESERVFAIL', 'ESERVFAIL')
  const lookup = lookupOf(live, failing)
  await assert.rejects(lookup('a.example'))
  Object.assign(failing, resolver(['8.8.8.8'], []))
  assert.deepEqual(await lookup('a.example'), ['8.8.8.8'])
})

test('the sandbox and listed names use the machine’s resolver, including its hosts file', async () => {
  const asked: string[] = []
  const dns = resolver('ENOTFOUND', 'ENOTFOUND', asked)
  const sandbox = parseUrlPolicy({ mode: 'sandbox', allowedTargets: [] })
  const listing = parseUrlPolicy({ mode: 'live', allowedTargets: ['localhost:3000'] })
  for (const policy of [sandbox, listing]) {
    const addresses = await lookupOf(policy, dns)('localhost')
    assert(addresses.includes('127.0.0.1') || addresses.includes('::1'), addresses.join())
  }
  assert.deepEqual(asked, [])
})

test('a real resolver is queried over the network for both families', async (t) => {
  const server = createSocket('udp4')
  t.after(() => server.close())
  server.on('message', (query, { port }) => server.send(answerTo(query), port, '127.0.0.1'))
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  const dns = new promises.Resolver()
  dns.setServers([`127.0.0.1:${server.address().port}`])
  assert.deepEqual(await lookupOf(live, dns)('shop.example'), ['93.184.215.14', '2606:4700::1111'])
})

// The query with one record added: the name by reference, type and class as asked, 60 seconds, the address.
function answerTo(query: Buffer): Buffer {
  const question = query.subarray(12, query.indexOf(0, 12) + 5)
  const typeAndClass = question.subarray(-4)
  const isIPv6 = typeAndClass.readUInt16BE(0) === 28
  const address = Buffer.from(isIPv6 ? '26064700000000000000000000001111' : '5db8d70e', 'hex')
  const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
  const rest = Buffer.from([0, 0, 0, 60, 0, address.length])
  return Buffer.concat([header, question, Buffer.from([0xc0, 12]), typeAndClass, rest, address])
}
