// What identity providers say of somebody, bent in every way: addresses that look like another's, roles of other shapes, and
// answers of one provider where the other one was asked. Operators and members each have a provider of their own.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actingAs } from '../support/acting.ts'
import { TestClock } from '../support/clock.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import { clientId, clientSecret, type Person, startIdentityProvider } from '../support/identity-provider.ts'
import { PortalClient } from '../support/portal.ts'

const port = 21_500 + (process.pid % 400)
const adminPort = 22_000 + (process.pid % 400)
const origin = `http://127.0.0.1:${port}`
const adminOrigin = `http://127.0.0.1:${adminPort}`
const consolePath = '/sign-in/provider'
const portalPath = '/merchant/sign-in/provider'
// Each would send its answers to the other's address too.
const addresses = [`${adminOrigin}${consolePath}/callback`, `${origin}${portalPath}/callback`]
const [ofOperators, ofMembers] = [
  await startIdentityProvider(addresses),
  await startIdentityProvider(addresses),
]
const clock = new TestClock(Date.now())
const gateway = await startTestGateway({
  clock,
  environment: {
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    OIDC_ISSUER: ofOperators.issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
    OIDC_ROLES: 'till-admins=admin,staff=viewer',
    MEMBER_OIDC_ISSUER: ofMembers.issuer,
    MEMBER_OIDC_CLIENT_ID: 'another',
    MEMBER_OIDC_CLIENT_SECRET: clientSecret,
  },
})
const { operators, members } = actingAs(gateway.operations, 'test')
const { merchantId } = await gateway.addMerchant({ name: 'Tea House' })

const doors = {
  console: {
    at: adminOrigin,
    path: consolePath,
    provider: ofOperators,
    home: '/account',
    signIn: '/sign-in',
  },
  portal: {
    at: origin,
    path: portalPath,
    provider: ofMembers,
    home: '/merchant/account',
    signIn: '/merchant/sign-in',
  },
} as const
type Door = (typeof doors)[keyof typeof doors]

function open({ at }: Door): ConsoleClient {
  return at === origin ? new PortalClient(gateway) : new ConsoleClient(gateway)
}

async function begin({ path }: Door, client: ConsoleClient, next = ''): Promise<URL> {
  // The allowance of the address comes back with time.
  clock.advance(10_000)
  const query = next === '' ? '' : `?next=${encodeURIComponent(next)}`
  const { location } = await client.get(path + query)
  return new URL(location ?? '')
}

async function signIn(door: Door, person: Person, next?: string) {
  const client = open(door)
  door.provider.person = person
  const returned = await door.provider.follow((await begin(door, client, next)).href)
  assert.ok(returned.startsWith(door.at), returned)
  const { location } = await client.get(returned.slice(door.at.length))
  return { client, location, isIn: await isIn(door, client) }
}

async function isIn({ home }: Door, client: ConsoleClient): Promise<boolean> {
  return (await client.get(home)).status !== 303
}

/** None of them is the mailbox kim.long@example.com. */
const lookalikes = [
  ...[
    '\u212aim.long@example.com',
    'kim.long@e\u212aample.com',
    'kim.lo\u0237g@example.com',
    'kim.long\u0000@example.com',
  ],
  ...[
    'kim.long@example.com.',
    'kim.long@example.com,eve@evil.example',
    'kim.long@example.com\u200b',
    'kim.long@example。com',
  ],
  ...[
    'kim.long@ｅxample.com',
    'ｋim.long@example.com',
    'kim.long+x@example.com',
    'kimlong@example.com',
    'kim.long@EXAMPLE.COM.evil.example',
  ],
  ...[
    '"kim.long"@example.com',
    '<kim.long@example.com>',
    'kim.long%40example.com',
    'mailto:kim.long@example.com',
    'kim.ſong@example.com',
  ],
]

test('an address that only looks like the declared one binds no operator; the declared one does, in any case', async () => {
  await operators.addOperator({ login: 'kim', role: 'viewer', email: 'kim.long@example.com' })
  for (const [index, email] of lookalikes.entries()) {
    const { isIn } = await signIn(doors.console, { sub: `eve-${index}`, email, groups: ['till-admins'] })
    assert.equal(isIn, false, JSON.stringify(email))
  }
  const right = { sub: 'kim', email: 'Kim.Long@EXAMPLE.com', groups: ['staff'] }
  assert.equal((await signIn(doors.console, { ...right, isVerified: false })).isIn, false)
  for (const isVerified of ['true', 1, [true], {}] as unknown as boolean[])
    assert.equal((await signIn(doors.console, { ...right, isVerified })).isIn, false, String(isVerified))
  assert.equal((await signIn(doors.console, right)).isIn, true)
})

test('nor does it join in the name of whoever was invited', async () => {
  const { link } = await members.inviteMember({ merchantId, email: 'kim.long@example.com', role: 'owner' })
  const path = new URL(link ?? '').pathname
  for (const [index, email] of lookalikes.entries()) {
    const { isIn } = await signIn(doors.portal, { sub: `eve-${index}`, email }, path)
    assert.equal(isIn, false, JSON.stringify(email))
  }
  for (const next of [
    `${path}?`,
    `${path}/`,
    `${path}/../x`,
    `/merchant/join/../join/${path.split('/').at(-1)}`,
  ]) {
    const { isIn } = await signIn(doors.portal, { sub: 'kim', email: 'kim.long@example.com' }, next)
    assert.equal(isIn, false, next)
  }
  assert.equal((await signIn(doors.portal, { sub: 'kim', email: 'KIM.long@example.com' }, path)).isIn, true)
})

test('a claim of roles gives a role only by the very name of a group', async () => {
  await operators.addOperator({ login: 'ann', role: 'viewer', email: 'ann@example.com' })
  const ann = { sub: 'ann', email: 'ann@example.com' }
  const roleOf = async () => {
    const { rows } = await gateway.pool.query<{ role: string }>(
      "select role from operators where login = 'ann'",
    )
    return rows[0]?.role
  }
  assert.equal((await signIn(doors.console, { ...ann, groups: ['staff'] })).isIn, true)
  for (const groups of [
    ...[
      'till-admins,staff',
      'till-admins staff',
      'TILL-ADMINS',
      ' till-admins',
      'till-admins\u0000',
      'admin',
      '__proto__',
    ],
    ...[
      ['TILL-ADMINS'],
      [['till-admins']],
      { 'till-admins': true },
      { 0: 'till-admins' },
      [{ name: 'till-admins' }],
    ],
    ...[['constructor'], ['till-admins '], [null], null, true, 1, [], ''],
  ] as unknown as string[][]) {
    const { isIn } = await signIn(doors.console, { ...ann, groups })
    assert.deepEqual([isIn, await roleOf()], [false, 'viewer'], JSON.stringify(groups))
  }
  // As one text it is a group all the same.
  assert.equal((await signIn(doors.console, { ...ann, groups: 'till-admins' as never })).isIn, true)
  assert.equal(await roleOf(), 'admin')
})

test('an answer of one provider is none of the other, whatever it says of who gave it', async () => {
  const person = { sub: 'ann', email: 'ann@example.com', groups: ['till-admins'] }
  ofOperators.person = person
  ofMembers.person = person
  for (const [door, wrong] of [
    [doors.console, doors.portal],
    [doors.portal, doors.console],
  ] as const) {
    const client = open(door)
    const asked = await begin(door, client)
    // The attacker sends the browser to the other provider, with the state and nonce of the one that it was to go to.
    const elsewhere = await begin(wrong, open(wrong))
    const mixed = new URL(elsewhere)
    for (const name of ['state', 'nonce', 'redirect_uri', 'code_challenge'])
      mixed.searchParams.set(name, asked.searchParams.get(name) ?? '')
    const returned = new URL(await wrong.provider.follow(mixed.href))
    assert.equal(returned.origin, door.at)
    for (const iss of [wrong.provider.issuer, door.provider.issuer, undefined]) {
      const bent = new URL(returned)
      if (iss === undefined) bent.searchParams.delete('iss')
      else bent.searchParams.set('iss', iss)
      const again = open(door)
      for (const [name, value] of client.cookies) again.cookies.set(name, value)
      await again.get(bent.pathname + bent.search)
      assert.equal(await isIn(door, again), false, iss)
    }
    // Nor is what the browser keeps for the one door of use at the other.
    const other = open(wrong)
    for (const [name, value] of client.cookies)
      other.cookies.set(
        name.replace(/^(?:console|merchant)/, wrong === doors.portal ? 'merchant' : 'console'),
        value,
      )
    await other.get(`${wrong.path}/callback${returned.search}`)
    assert.equal(await isIn(wrong, other), false)
  }
})

test('whatever address stands behind next, the browser stays here', async () => {
  const person = { sub: 'ann', email: 'ann@example.com', groups: ['till-admins'] }
  const evil = [
    ...[
      '//evil.example',
      '///evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      '/\t/evil.example',
      '/\n/evil.example',
    ],
    ...[
      'https://evil.example',
      'https:evil.example',
      'http:/evil.example',
      'javascript:alert(1)',
      'data:text/html,x',
    ],
    ...[
      '/..//evil.example',
      '/.//evil.example',
      '/%2F/evil.example',
      '/%5Cevil.example',
      '/;//evil.example',
      '/@evil.example',
    ],
    ...[
      '/account\r\nLocation: https://evil.example',
      '/account\r\nSet-Cookie: console=x',
      '/sign-in?next=//evil.example',
    ],
    ...[
      '/merchant//evil.example',
      '/merchant/..//evil.example',
      '/merchant@evil.example',
      '/merchant.evil.example',
    ],
    ...[
      '/merchant/sign-in?next=//evil.example',
      '/merchant?next=//evil.example',
      'merchant',
      '',
      ' /account',
    ],
  ]
  for (const door of Object.values(doors))
    for (const next of evil) {
      const begun = await signIn(door, person, next)
      const client = open(door)
      const query = `?next=${encodeURIComponent(next)}`
      await client.get(`${door.signIn}${query}`)
      for (const location of [begun.location, (await begun.client.get(`${door.signIn}${query}`)).location]) {
        if (location === null) continue
        assert.match(location, /^\/(?![/\\])/, `${next} leads to ${location}`)
        assert.equal(new URL(location, door.at).origin, door.at, next)
      }
    }
  // The same two addresses for one parameter.
  const twice = await new ConsoleClient(gateway).get(`${consolePath}?next=/account&next=//evil.example`)
  assert.equal(new URL(twice.location ?? '').origin, ofOperators.issuer)
})
