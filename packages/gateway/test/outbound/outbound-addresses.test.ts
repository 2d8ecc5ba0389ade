// Every spelling we know of an address that is not public, refused in live and for merchants who signed on to the
// sandbox by themselves. The network of this test leads each connection to a canary, whatever its address, so a single
// gap in the guard would be heard there.
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { promises as dns } from 'node:dns'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import ipaddr from 'ipaddr.js'
import { makeSystemLookup } from '../../src/platform/outbound/lookup.ts'
import { makeAuthority } from '../support/certificates.ts'
import {
  layOver,
  makeSender,
  plainAnswer,
  receivePlain,
  receiveTls,
  setCanary,
} from '../support/outbound-network.ts'

const body = '{}'

// As they can stand in a URL, with https and port 443, so that nothing but the address is wrong.
const hosts = [
  // loopback
  '127.0.0.1',
  '127.0.0.1.',
  '127.0.0.2',
  '127.1.2.3',
  '127.255.255.255',
  '127.1',
  '127.0.1',
  '127.000.000.001',
  '0177.0.0.1',
  '0177.0.0.01',
  '00000177.0.0.1',
  '0177.1',
  '0x7f.0.0.1',
  '0x7F.0x0.0x0.0x1',
  '0x7f.1',
  '0x7f.0.1',
  '0x7f000001',
  '0x7F000001',
  '0x000000007f000001',
  '2130706433',
  '017700000001',
  '①②⑦.⓪.⓪.①',
  '１２７.０.０.１',
  '127。0。0。1',
  '127．0．0．1',
  '127｡0｡0｡1',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '0x7f%2e1',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::0001]',
  '[0::1]',
  '[::0.0.0.1]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'shop.localhost',
  'ｌｏｃａｌｈｏｓｔ',
  'loc%61lhost',
  // IPv4 inside IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo
  '[::ffff:127.0.0.1]',
  '[::FFFF:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::ffff:10.0.0.1]',
  '[::ffff:a00:1]',
  '[::ffff:192.168.0.1]',
  '[::ffff:172.16.0.1]',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[::ffff:0.0.0.0]',
  '[::ffff:100.64.0.1]',
  '[::ffff:168.63.129.16]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::10.0.0.1]',
  '[::a9fe:a9fe]',
  '[::ffff:0:127.0.0.1]',
  '[::ffff:0:a9fe:a9fe]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::10.0.0.1]',
  '[64:ff9b::169.254.169.254]',
  '[64:ff9b::8.8.8.8]',
  '[64:ff9b:1::127.0.0.1]',
  '[64:ff9b:1::a9fe:a9fe]',
  '[64:ff9b:1:ffff::10.0.0.1]',
  '[2002:7f00:1::]',
  '[2002:7f00:1::1]',
  '[2002:a00:1::]',
  '[2002:a9fe:a9fe::]',
  '[2002:c0a8:1::1]',
  '[2002:808:808::1]',
  '[2001:0:7f00:1::]',
  '[2001::80ff:fffe]',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
  // unspecified, which Linux connects to loopback
  '0.0.0.0',
  '0',
  '0x0',
  '00000000000',
  '0.0',
  '0.1.2.3',
  '[::]',
  '[0:0:0:0:0:0:0:0]',
  // private
  '10.0.0.0',
  '10.0.0.1',
  '10.255.255.255',
  '10.1',
  '012.0.0.1',
  '0xa.0.0.1',
  '0x0a000001',
  '167772161',
  '172.16.0.1',
  '172.31.255.255',
  '172.1048577',
  '0xac100001',
  '2886729729',
  '192.168.0.1',
  '192.168.255.255',
  '192.168.257',
  '0xc0a80001',
  '3232235521',
  '0300.0250.0.1',
  '[fc00::1]',
  '[fd00::1]',
  '[fd12:3456:789a::1]',
  '[fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]',
  '[fec0::1]',
  // link-local and clouds' metadata
  '169.254.0.1',
  '169.254.169.254',
  '169.254.169.253',
  '169.254.170.2',
  '169.254.43518',
  '169.16689662',
  '0251.0376.0251.0376',
  '0xa9.0xfe.0xa9.0xfe',
  '0xA9FEA9FE',
  '2852039166',
  '025177524776',
  '①⑥⑨.②⑤④.①⑥⑨.②⑤④',
  '[fe80::1]',
  '[fe80::a9fe:a9fe]',
  '[febf:ffff::1]',
  '[fd00:ec2::254]',
  '[fd00:0ec2:0:0:0:0:0:0254]',
  '[fd00:ec2::23]',
  '[fd20:ce::254]',
  '[fd00:c1::a9fe:a9fe]',
  '[fd00:42::42]',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  '0xa83f8110',
  // carriers' NAT, multicast, broadcast, documentation, benchmarking, reserved
  '100.64.0.1',
  '100.127.255.255',
  '224.0.0.1',
  '239.255.255.250',
  '255.255.255.255',
  '0xffffffff',
  '4294967295',
  '240.0.0.1',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '[ff02::1]',
  '[ff0e::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[2001:2::1]',
  '[2001:10::1]',
  '[2001:20::1]',
  '[3fff::1]',
  '[5f00::1]',
  '[4000::1]',
  '[8000::1]',
  '[1::1]',
]

// As a resolver may answer them. The zone of an address is never ours to choose.
const resolvedAddresses = [
  '127.0.0.1',
  '127.8.8.8',
  '0.0.0.0',
  '10.0.0.1',
  '172.20.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.0.0.1',
  '::ffff:169.254.169.254',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::a00:1',
  '2002:7f00:1::1',
  '2001:0:7f00:1::',
  'fe80::1',
  'fe80::1%lo',
  'fe80::1%1',
  '2606:4700:4700::1111%lo',
  'fc00::1',
  'fd00:ec2::254',
  'fec0::1',
  'ff02::1',
  '0x7f000001',
  '2130706433',
  '0177.0.0.1',
  '127.1',
  'localhost',
  '',
]

// The same few addresses in every notation that some parser takes.
const addresses = [
  '10.255.255.254',
  '100.100.100.200',
  '127.0.0.1',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '198.18.0.1',
]

function spellings(address: string): string[] {
  const bytes = address.split('.').map(Number)
  const [a = 0, b = 0, c = 0, d = 0] = bytes
  const whole = Buffer.from(bytes).readUInt32BE()
  const hex = (byte: number) => `0x${byte.toString(16)}`
  const octal = (byte: number) => `0${byte.toString(8)}`
  const fullWidth = (text: string) =>
    text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
  const mathematical = (text: string) =>
    text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0x1d7d8 + Number(digit)))
  const [high, low] = [(whole >>> 16).toString(16), (whole & 0xffff).toString(16)]
  return [
    String(whole),
    `0x${whole.toString(16)}`,
    `0${whole.toString(8)}`,
    bytes.map(hex).join('.'),
    bytes.map(octal).join('.'),
    `${hex(a)}.${b}.${octal(c)}.${d}`,
    `${a}.${whole & 0xffffff}`,
    `${a}.${b}.${whole & 0xffff}`,
    `${address}.`,
    fullWidth(address),
    mathematical(address),
    address.replaceAll('.', '。'),
    address.replaceAll('.', '%2E'),
    `[::ffff:${address}]`,
    `[::ffff:${high}:${low}]`,
    `[::ffff:0:${address}]`,
    `[::${address}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b:1::${high}:${low}]`,
    `[2002:${high}:${low}::1]`,
    `[2001:0:${high}:${low}::]`,
    `[fe80::${high}:${low}]`,
  ]
}

const allHosts = [...new Set([...hosts, ...addresses.flatMap(spellings)])]

/** Both sets of rules under which nothing but a public address may be reached. */
const rules = [
  { name: 'in live', policy: { mode: 'live' }, request: {}, bases: ['https://HOST/'] },
  {
    name: 'for a merchant who signed on to the sandbox by itself',
    // What the operator listed is for those whom the operator signed on.
    policy: { mode: 'sandbox', allowedTargets: ['127.0.0.0/8', 'localhost', 'shop.example'] },
    request: { isPublicOnly: true },
    bases: ['https://HOST/', 'http://HOST:8081/metrics'],
  },
] as const

for (const { name, policy, request, bases } of rules) {
  describe(name, () => {
    test('at least three hundred different spellings are tried', () => {
      assert.equal(new Set(hosts).size, hosts.length)
      assert(allHosts.length >= 300, String(allHosts.length))
    })

    test('no spelling of an address that is not public reaches the canary', async (t) => {
      const canary = await setCanary(t)
      const dialled: string[] = []
      const looked: string[] = []
      const sender = makeSender(t, policy, {
        dial: layOver(canary.port, dialled),
        lookup: async (hostname) => {
          looked.push(hostname)
          return ['127.0.0.1']
        },
      })
      for (const host of allHosts) {
        for (const base of bases) {
          const delivery = await sender.post({ url: base.replace('HOST', host), body, ...request })
          assert.equal(delivery.kind === 'unreachable' && delivery.reason, 'address_not_public', host)
        }
      }
      // Each was known for an address from its spelling alone.
      assert.deepEqual(looked, [])
      assert.deepEqual(dialled, [])
      assert.equal(canary.sockets.length, 0)
    })

    test('no name that resolves to such an address reaches the canary', async (t) => {
      const canary = await setCanary(t)
      const dialled: string[] = []
      let answer = ''
      const sender = makeSender(t, policy, {
        dial: layOver(canary.port, dialled),
        lookup: async () => [answer],
      })
      for (const address of resolvedAddresses) {
        answer = address
        const delivery = await sender.post({ url: 'https://shop.example/callbacks', body, ...request })
        assert.equal(delivery.kind === 'unreachable' && delivery.reason, 'address_not_public', address)
      }
      assert.deepEqual(dialled, [])
      assert.equal(canary.sockets.length, 0)
    })

    test('a name that a real resolver rebinds is followed to public addresses only', async (t) => {
      const authority = makeAuthority()
      const certificate = authority.issue({ altNames: ['DNS:shop.example'] })
      const receiver = await receiveTls(t, certificate, (socket) => socket.write(plainAnswer('ok')))
      const dialled: string[] = []
      const resolver = await startResolver(t)
      let now = 0
      const sender = makeSender(
        t,
        { ...policy, extraCa: authority.ca },
        { dial: layOver(receiver.port, dialled), lookup: makeSystemLookup(resolver.client), now: () => now },
      )
      const outcomes: string[] = []
      for (const answer of [
        ['93.184.215.14'],
        ['127.0.0.1'],
        ['93.184.215.14', '10.0.0.1'],
        ['::1'],
        ['93.184.215.14', '::ffff:169.254.169.254'],
        ['2606:4700::1111', '64:ff9b::7f00:1'],
        ['0.0.0.0'],
        ['2606:4700::1111'],
      ]) {
        resolver.answer = answer
        // Past the life of a connection: the name is asked for again.
        now += 120_000
        const delivery = await sender.post({ url: 'https://shop.example/', body, ...request })
        outcomes.push(delivery.kind === 'unreachable' ? delivery.reason : delivery.kind)
      }
      const refused = Array.from({ length: 6 }, () => 'address_not_public')
      assert.deepEqual(outcomes, ['answered', ...refused, 'answered'])
      assert.deepEqual(dialled, ['93.184.215.14 443', '2606:4700::1111 443'])
      // Both families, each time: nothing was answered from memory or by the machine's own names.
      assert.equal(resolver.asked.length, 16)
    })

    test('a connection that ends elsewhere than the resolver said is not written to', async (t) => {
      const canary = await setCanary(t)
      const resolver = await startResolver(t)
      resolver.answer = ['93.184.215.14']
      const elsewhere = layOver(canary.port)
      const sender = makeSender(t, policy, {
        dial: (destination) => elsewhere({ ...destination, addresses: ['127.0.0.1'] }),
        lookup: makeSystemLookup(resolver.client),
      })
      const delivery = await sender.post({ url: 'https://shop.example/', body, ...request })
      assert.equal(delivery.kind === 'unreachable' && delivery.reason, 'address_not_public')
      assert.equal(canary.sockets[0]?.bytesRead ?? 0, 0)
    })
  })
}

interface TestResolver {
  readonly client: dns.Resolver
  /** The addresses of every name, of both families. */
  answer: readonly string[]
  readonly asked: string[]
}

/** A DNS server on loopback whose answers live for no time at all, and a client that asks it alone. */
async function startResolver(t: TestContext): Promise<TestResolver> {
  const server = createSocket('udp4')
  t.after(() => server.close())
  const client = new dns.Resolver()
  const resolver: TestResolver = { client, answer: [], asked: [] }
  server.on('message', (query, { port }) => {
    const question = query.subarray(12, query.indexOf(0, 12) + 5)
    const typeAndClass = question.subarray(-4)
    const isIPv6 = typeAndClass.readUInt16BE(0) === 28
    resolver.asked.push(isIPv6 ? 'AAAA' : 'A')
    const records = resolver.answer
      .filter((address) => isIPv4(address) !== isIPv6)
      .map((address) => {
        const bytes = Buffer.from(ipaddr.parse(address).toByteArray())
        return Buffer.concat([
          Buffer.from([0xc0, 12]),
          typeAndClass,
          Buffer.from([0, 0, 0, 0, 0, bytes.length]),
          bytes,
        ])
      })
    const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0])
    server.send(Buffer.concat([header, question, ...records]), port, '127.0.0.1')
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  client.setServers([`127.0.0.1:${server.address().port}`])
  return resolver
}

describe('in live', () => {
  test('other ports and plain http reach no listener on loopback either', async (t) => {
    const canary = await setCanary(t)
    const sender = makeSender(t, { mode: 'live' })
    for (const url of [
      `http://127.0.0.1:${canary.port}/`,
      `https://127.0.0.1:${canary.port}/`,
      `https://localhost:${canary.port}/`,
      `https://[::ffff:127.0.0.1]:${canary.port}/`,
      `https://8.8.8.8@127.0.0.1:${canary.port}/`,
      `https://2130706433:${canary.port}/`,
    ]) {
      const delivery = await sender.post({ url, body })
      assert.equal(delivery.kind === 'unreachable' && delivery.reason, 'url_not_allowed', url)
    }
    assert.equal(canary.sockets.length, 0)
  })

  // Without this the tests above would also pass with a network that leads nowhere.
  test('a public address reaches a receiver over the same network', async (t) => {
    const authority = makeAuthority()
    const certificate = authority.issue({
      altNames: ['IP:8.8.8.8', 'IP:::ffff:8.8.8.8', 'IP:2606:4700:4700::1111'],
    })
    const receiver = await receiveTls(t, certificate, (socket) => socket.write(plainAnswer('ok')))
    const dialled: string[] = []
    const sender = makeSender(
      t,
      { mode: 'live', extraCa: authority.ca },
      { dial: layOver(receiver.port, dialled) },
    )
    for (const host of ['8.8.8.8', '[::ffff:808:808]', '0x08080808', '[2606:4700:4700::1111]']) {
      const delivery = await sender.post({ url: `https://${host}/`, body })
      assert.equal(delivery.kind, 'answered', `${host} ${JSON.stringify(delivery)}`)
    }
    assert.deepEqual(dialled, ['8.8.8.8 443', '8.8.8.8 443', '2606:4700:4700::1111 443'])
  })
})

describe('in the sandbox', () => {
  for (const host of [
    '169.254.169.254',
    '0xa9fea9fe',
    '[::ffff:a9fe:a9fe]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '100.100.100.200',
    '168.63.129.16',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:a9fe:a9fe::]',
  ]) {
    test(`${host} is refused, by spelling and by name`, async (t) => {
      const canary = await setCanary(t)
      const address = new URL(`http://${host}`).hostname.replace(/[[\]]/g, '')
      const sender = makeSender(t, {}, { dial: layOver(canary.port), lookup: async () => [address] })
      for (const url of [`http://${host}/`, 'http://metadata.test/']) {
        const delivery = await sender.post({ url, body })
        assert.equal(delivery.kind === 'unreachable' && delivery.reason, 'address_not_public', url)
      }
      assert.equal(canary.sockets.length, 0)
    })
  }
})

describe('the gateway’s own ports', () => {
  const own = { ports: () => [8080, 8081], addresses: () => ['192.168.7.7', 'fd00::7', '203.0.114.7'] }

  test('are reached by no spelling and no name, though the operator listed them', async (t) => {
    const canary = await setCanary(t)
    for (const policy of [
      {},
      { allowedTargets: ['127.0.0.0/8', 'localhost', 'intranet.test', '192.168.0.0/16'] },
    ]) {
      let answer = '127.0.0.1'
      const sender = makeSender(
        t,
        { ...policy, ownListeners: own },
        { dial: layOver(canary.port), lookup: async () => [answer] },
      )
      const hostsOfOurs = spellings('127.0.0.1').filter((host) => !/^\[(?!::ffff:(127|7f))/.test(host))
      for (const host of [
        ...hostsOfOurs,
        '[::1]',
        'localhost',
        '127.9.9.9',
        '192.168.7.7',
        '[fd00::7]',
        '203.0.114.7',
      ]) {
        for (const port of [8080, 8081]) {
          const delivery = await sender.post({ url: `http://${host}:${port}/`, body })
          assert.equal(delivery.kind === 'unreachable' && delivery.reason, 'address_not_public', host)
        }
      }
      for (answer of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '192.168.7.7']) {
        const delivery = await sender.post({ url: 'http://intranet.test:8081/', body })
        assert.equal(delivery.kind === 'unreachable' && delivery.reason, 'address_not_public', answer)
      }
    }
    assert.equal(canary.sockets.length, 0)
  })

  test('of other machines, and other ports of this one, stay open to whom the operator signed on', async (t) => {
    const receiver = await receivePlain(t)
    const sender = makeSender(t, { ownListeners: own }, { dial: layOver(receiver.port) })
    for (const url of ['http://192.168.7.8:8081/', 'http://127.0.0.1:8082/']) {
      assert.equal((await sender.post({ url, body })).kind, 'answered', url)
    }
  })

  test('a connection of somebody who may is not shared with somebody who may not', async (t) => {
    const receiver = await receivePlain(t)
    const sender = makeSender(t)
    assert.equal((await sender.post({ url: receiver.url, body })).kind, 'answered')
    const delivery = await sender.post({ url: receiver.url, body, isPublicOnly: true })
    assert.equal(delivery.kind === 'unreachable' && delivery.reason, 'address_not_public')
  })
})
