import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { maxUrlLength } from '@tillgate/protocol'
import fc from 'fast-check'
import { checkAddress, checkUrl, parseUrlPolicy, type UrlPolicy } from './ssrf-guard.ts'

const live = parseUrlPolicy({ mode: 'live', allowedTargets: [] })
const sandbox = parseUrlPolicy({ mode: 'sandbox', allowedTargets: [] })
const publicName = { hostname: 'shop.example', port: 443 }

function listing(...allowedTargets: string[]): UrlPolicy {
  return parseUrlPolicy({ mode: 'live', allowedTargets })
}

function verdict(url: string, policy: UrlPolicy): string {
  const check = checkUrl(url, policy)
  return check.kind === 'allowed' ? 'allowed' : check.reason
}

function addressVerdict(address: string, policy: UrlPolicy, target = publicName): string {
  return checkAddress(address, target, policy).kind
}

describe('a URL in live', () => {
  for (const url of [
    'https://shop.example/callbacks',
    'HTTPS://SHOP.EXAMPLE/',
    'https://shop.example:443/',
    'https://shop.example.',
    'https://shop.example?order=1#paid',
    'https://bücher.example/',
    'https://xn--bcher-kva.example/',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
    'https://[::ffff:8.8.8.8]/',
    'https://127.0.0.1.example/',
    'https://localhost.example/',
  ]) {
    test(`${url} is allowed`, () => assert.equal(verdict(url, live), 'allowed'))
  }

  for (const url of [
    '',
    'shop.example',
    '/callbacks',
    '//shop.example/',
    'https:shop.example',
    'https:/shop.example',
    'https:///shop.example',
    'https://',
    'https://?x',
    'http://shop.example/',
    'https://shop.example:8443/',
    'https://shop.example:80/',
    'https://shop.example:0/',
    'https://shop.example:65536/',
    'https://user@shop.example/',
    'https://user:password@shop.example/',
    'https://@shop.example/',
    'https://:@shop.example/',
    'https://8.8.8.8@127.0.0.1/',
    'https:\\\\shop.example\\',
    'https://shop.example\\@127.0.0.1/',
    ' https://shop.example/',
    'https://shop.example/ ',
    'https://shop.example/a b',
    'https://shop.example/\n',
    'https://shop\t.example/',
    'https://shop.example/\u0000',
    'https://shop.example/\u0085',
    'https://shop.example/\u2028',
    'https://shop.example/\ud800',
    'https://256.1.1.1/',
    'https://[::1',
    'https://[fe80::1%25eth0]/',
    'ftp://shop.example/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,x',
    'gopher://shop.example/',
    `https://${'a.'.repeat(127)}example/`,
  ]) {
    test(`${JSON.stringify(url)} is not allowed`, () => assert.equal(verdict(url, live), 'url_not_allowed'))
  }

  for (const url of ['https://localhost/', 'https://a.LocalHost./', 'https://127.0.0.1/', 'https://[::1]/']) {
    test(`${url} is not public`, () => assert.equal(verdict(url, live), 'address_not_public'))
  }

  test('a URL has at most 2048 code points', () => {
    const longest = 'https://shop.example/'.padEnd(maxUrlLength, 'a')
    assert.equal(verdict(longest, live), 'allowed')
    assert.equal(verdict(`${longest}a`, live), 'url_not_allowed')
    assert.equal(verdict(`https://shop.example/${'😀'.repeat(maxUrlLength - 21)}`, live), 'allowed')
    assert.equal(verdict(`https://shop.example/${'😀'.repeat(maxUrlLength - 20)}`, live), 'url_not_allowed')
  })

  test('the result has the parsed URL, and a rejection says what to change', () => {
    const allowed = checkUrl('https://Shop.example/a?b', live)
    assert(allowed.kind === 'allowed')
    assert.equal(allowed.url.href, 'https://shop.example/a?b')
    assert.deepEqual(checkUrl('http://shop.example/', live), {
      kind: 'refused',
      reason: 'url_not_allowed',
      detail: 'it uses http://; a live gateway sends callbacks to https:// only',
    })
    const detailOf = (url: string) => {
      const check = checkUrl(url, live)
      return check.kind === 'refused' ? check.detail : ''
    }
    assert.match(detailOf('ftp://shop.example/'), /^the scheme ftp:\/\/ is not supported/)
    assert.match(detailOf('https://shop.example:99999/'), /^the port of shop\.example:99999 is not a number/)
    assert.match(detailOf('https://shop.example:8443/'), /^it uses port 8443;/)
    assert.match(detailOf('https://shop.example:abc/'), /^the port of shop\.example:abc is not a number/)
    assert.match(
      detailOf('shop.example/callbacks'),
      /^the scheme is missing; write https:\/\/ before shop\.example$/,
    )
    assert.match(detailOf('https://'), /^the host is missing/)
    assert.match(detailOf('https:/shop.example/'), /^two slashes follow the scheme/)
    assert.match(detailOf('https://shop%zz.example/'), /^shop%zz\.example is not a host name$/)
    assert.match(detailOf('callbacks'), /^write an absolute URL/)
    assert.equal(detailOf('https://10.1.2.3/'), '10.1.2.3 is a private network address')
  })

  test('no text makes the check throw', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void checkUrl(text, live)))
    fc.assert(fc.property(fc.webUrl(), (text) => void checkUrl(text, live)))
  })
})

describe('a URL in the sandbox', () => {
  for (const url of [
    'http://localhost:3000/callbacks',
    'http://127.0.0.1:1/',
    'http://[::1]:3000/',
    'http://shop.example/',
    'https://shop.example:8443/',
    'http://192.168.1.7:3000/',
    'http://172.18.0.3/',
  ]) {
    test(`${url} is allowed`, () => assert.equal(verdict(url, sandbox), 'allowed'))
  }

  for (const url of [
    'http://169.254.169.254/latest/meta-data/',
    'http://0xa9fea9fe/',
    'http://[::ffff:169.254.169.254]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://100.100.100.200/',
    'http://168.63.129.16/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[2002:a9fe:a9fe::]/',
    'http://0.0.0.0/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
  ]) {
    test(`${url} is refused`, () => assert.equal(verdict(url, sandbox), 'address_not_public'))
  }

  for (const url of [
    'http://user@localhost/',
    'ftp://localhost/',
    'http://localhost:0/',
    'http://localhost/\n',
  ]) {
    test(`${JSON.stringify(url)} is refused`, () => assert.equal(verdict(url, sandbox), 'url_not_allowed'))
  }
})

describe('an address in live', () => {
  const octet = fc.integer({ min: 0, max: 255 })
  const privateIPv4 = fc
    .tuple(
      fc.constantFrom('10', '127', '0', '172.16', '172.31', '192.168', '169.254', '100.64', '198.18', '240'),
      octet,
      octet,
      octet,
    )
    .map(([start, ...rest]) => [...start.split('.'), ...rest].slice(0, 4).join('.'))

  test('every IPv4 address of an internal network is rejected, plain and inside IPv6', () => {
    fc.assert(
      fc.property(privateIPv4, (address) => {
        for (const prefix of ['', '::ffff:', '::', '64:ff9b::', '64:ff9b:1::', '::ffff:0:']) {
          assert.equal(addressVerdict(prefix + address, live), 'refused', prefix + address)
        }
      }),
    )
  })

  test('only the block of global IPv6 addresses is public', () => {
    const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 7, maxLength: 7 })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff }), groups, (first, rest) => {
        fc.pre(first >> 13 !== 1)
        const address = [first, ...rest].map((group) => group.toString(16)).join(':')
        assert.equal(addressVerdict(address, live), 'refused', address)
      }),
    )
  })

  test('a mapped address is checked as the IPv4 address that will be connected to', () => {
    assert.deepEqual(checkAddress('::ffff:8.8.8.8', publicName, live), {
      kind: 'allowed',
      address: '8.8.8.8',
    })
  })

  test('the first and last address of a private range are rejected, their neighbors are not', () => {
    for (const [before, first, last, after] of [
      ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
      ['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
      ['192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
      ['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
      ['169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
      ['126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
    ] as const) {
      assert.deepEqual(
        [before, first, last, after].map((address) => addressVerdict(address, live)),
        ['allowed', 'refused', 'refused', 'allowed'],
      )
    }
  })

  test('text that is not a plain address is rejected', () => {
    for (const text of [
      '',
      'shop.example',
      '0x7f.1',
      '010.0.0.1',
      '8.8.8',
      '8.8.8.8 ',
      '2606:4700::1%eth0',
      ':::',
    ]) {
      assert.equal(addressVerdict(text, live), 'refused', text)
    }
  })
})

describe("the operator's list", () => {
  test('a listed name may use http, any port and an internal address', () => {
    const policy = listing('hooks.internal')
    assert.equal(verdict('http://hooks.internal:9000/', policy), 'allowed')
    assert.equal(verdict('http://HOOKS.internal.:9000/', policy), 'allowed')
    assert.equal(addressVerdict('10.1.2.3', policy, { hostname: 'hooks.internal', port: 9000 }), 'allowed')
    assert.equal(verdict('http://a.hooks.internal/', policy), 'url_not_allowed')
    assert.equal(addressVerdict('10.1.2.3', policy), 'refused')
  })

  test('an entry with a port allows only that port', () => {
    const policy = listing('hooks.internal:9000', '10.0.0.5:8443', '[fd00::5]:8443')
    assert.equal(verdict('http://hooks.internal:9000/', policy), 'allowed')
    assert.equal(verdict('http://hooks.internal:9001/', policy), 'url_not_allowed')
    assert.equal(addressVerdict('10.1.2.3', policy, { hostname: 'hooks.internal', port: 443 }), 'refused')
    assert.equal(verdict('https://10.0.0.5:8443/', policy), 'allowed')
    assert.equal(verdict('https://[fd00::5]:8443/', policy), 'allowed')
    assert.equal(verdict('https://10.0.0.5/', policy), 'address_not_public')
  })

  test('a listed range covers its addresses in every spelling, and no others', () => {
    const policy = listing('10.1.0.0/16', 'fd12::/32')
    for (const url of [
      'https://10.1.255.255/',
      'http://0x0a010001:81/',
      'https://[::ffff:10.1.0.1]/',
      'http://[fd12:0::1]/',
    ]) {
      assert.equal(verdict(url, policy), 'allowed', url)
    }
    for (const url of ['https://10.2.0.0/', 'https://[fd13::1]/', 'https://[64:ff9b::10.1.0.1]/']) {
      assert.equal(verdict(url, policy), 'address_not_public', url)
    }
  })

  test('a name that is not listed may resolve into a listed range, but only with https on port 443', () => {
    const policy = listing('10.1.0.0/16')
    assert.equal(addressVerdict('10.1.2.3', policy), 'allowed')
    assert.equal(verdict('http://shop.example/', policy), 'url_not_allowed')
  })

  test('metadata and link-local addresses need their own entry; a name is not enough', () => {
    const target = { hostname: 'hooks.internal', port: 80 }
    for (const address of [
      '169.254.169.254',
      '::ffff:169.254.169.254',
      'fd00:ec2::254',
      'fe80::1',
      '168.63.129.16',
    ]) {
      assert.equal(addressVerdict(address, listing('hooks.internal'), target), 'refused', address)
    }
    assert.equal(addressVerdict('169.254.169.254', listing('169.254.169.254'), target), 'allowed')
    assert.equal(addressVerdict('fd00:ec2::254', listing('fd00:ec2::254'), target), 'allowed')
  })

  for (const [entry, problem] of [
    ['', /write a host name/],
    ['*.internal', /wildcards/],
    ['https://hooks.internal', /write a range/],
    ['hooks.internal/callbacks', /write a range/],
    ['hooks.internal:0', /port is from 1/],
    ['hooks.internal:65536', /port is from 1/],
    ['hooks.internal:http', /write a host name/],
    ['user@hooks.internal', /not a host name/],
    ['hooks internal', /not a host name/],
    ['10.0.0.5/8', /starts at 10\.0\.0\.0/],
    ['fd00::1/8', /starts at fd00::/],
    ['10.0.0.0/33', /longer than the address/],
    ['fd00::/129', /longer than the address/],
    ['0.0.0.0/0', /turn the guard off/],
    ['::/0', /turn the guard off/],
    ['::ffff:10.0.0.0/104', /IPv4 form/],
    ['10.0.0/8', /write a range/],
    ['010.0.0.1', /in full: 8\.0\.0\.1/],
    ['0x7f.1', /in full: 127\.0\.0\.1/],
    ['fe80::1%eth0', /write a host name/],
  ] as const) {
    test(`the entry "${entry}" is refused with the reason`, () => {
      assert.throws(() => listing(entry), problem)
    })
  }

  test('all invalid entries are reported at once', () => {
    assert.throws(() => listing('good.internal', '*.a', '1.2.3.4/0'), /"\*\.a": .*; "1\.2\.3\.4\/0": /)
  })
})
