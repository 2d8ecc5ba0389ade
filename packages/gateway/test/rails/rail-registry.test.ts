// Rails are registered, changed, paused and given new secrets by command, by program and by form; secrets are shown once
// and rest sealed, and what a rail is not fit for is refused with what to change.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { reachingAll } from '../../src/core/authority/context.ts'
import { RailDirectory } from '../../src/finance/rails/rail-directory.ts'
import { isOffered, type OutsideRail } from '../../src/finance/rails/rules/outside-rail.ts'
import { pauseAfter } from '../../src/finance/rails/rules/rail-retry.ts'
import { scopeNames } from '../../src/identity/operators/rules/api-token.ts'
import { makeVault } from '../../src/platform/runtime/secrets/vault.ts'
import { actingAs } from '../support/acting.ts'
import { ApiClient } from '../support/admin-api.ts'
import { runCommand } from '../support/command.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'

const gateway = await startTestGateway()
const { pool, operations, stores, clock } = gateway
const { databaseUrl = '', masterKey } = gateway.config
assert(masterKey)
const { token } = await operations.apiTokens.addToken(reachingAll('test'), {
  login: 'admin',
  name: 'rails',
  scopes: scopeNames,
  days: 1,
})
const api = new ApiClient(gateway, token)
const console = new ConsoleClient(gateway)
await console.signIn()
const reason = 'because'
const params = { railId: 'bank' }
const bank = {
  railId: 'bank',
  name: 'My bank',
  url: 'http://127.0.0.1:9/rail',
  currencies: ['EUR', 'USD'],
  reason,
}

async function directory() {
  return new RailDirectory({ store: stores.rails, vault: makeVault(masterKey as Buffer), clock }).all()
}

async function acts(subject: string): Promise<string[]> {
  const { rows } = await pool.query<{ what: string }>(
    "select act || ' by ' || split_part(actor, ':', 1) as what from audit where subject = $1 order by audit_id",
    [subject],
  )
  return rows.map(({ what }) => what)
}

test('a rail added by command is shown with its secret this once, and the secret rests sealed', async () => {
  const args = [
    'rail',
    'add',
    '--id',
    'desk',
    '--name',
    'Desk',
    '--url',
    'http://127.0.0.1:9/',
    '--reason',
    'x',
  ]
  const limits = ['--currencies', 'eur,jpy', '--least', '1.00 EUR', '--json']
  const environment = { DATABASE_URL: databaseUrl, MASTER_KEY: masterKey.toString('base64') }
  const { out } = await runCommand(environment, [...args, ...limits])
  const { rail, secret } = JSON.parse(out)
  assert.deepEqual(
    [rail.railId, rail.currencies, rail.least, rail.position],
    ['desk', ['EUR', 'JPY'], ['1.00 EUR'], 100],
  )
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.deepEqual((await directory()).get('desk')?.secrets, [secret])
  const { rows } = await pool.query<{ sealed: Buffer }>('select sealed_secret as sealed from rail_secrets')
  assert.equal(
    rows.some(({ sealed }) => sealed.includes(secret.slice(6))),
    false,
  )
  assert.deepEqual(await acts('desk'), ['rail.add by cli'])
})

test('a program adds, lists, changes, pauses and resumes a rail', async () => {
  const added = await api.call('rail.add', { body: bank })
  assert.equal(added.status, 200, added.text)
  const again = await api.call('rail.add', { body: bank })
  assert.match(again.msg, /Rail bank already exists\. Choose another id/)
  const changed = await api.call('rail.change', {
    params,
    body: { names: ['de=Meine Bank'], most: ['500 USD'], reason },
  })
  assert.deepEqual([changed.data.names, changed.data.most], [['de=Meine Bank'], ['500.00 USD']])
  const cleared = await api.call('rail.change', {
    params,
    body: { clear: ['most', 'names'], position: 7, reason },
  })
  assert.deepEqual([cleared.data.names, cleared.data.most, cleared.data.position], [[], [], 7])
  assert.equal((await api.call('rail.pause', { params, body: { reason } })).data.isPaused, true)
  assert.equal((await api.call('rail.resume', { params, body: { reason } })).data.isPaused, false)
  const { data } = await api.call('rail.list')
  assert.deepEqual(
    data.rails.map((each: OutsideRail) => each.railId),
    ['bank', 'desk', 'test-bank'],
  )
  const shown = await api.call('rail.show', { params })
  assert.equal(shown.data.secrets.length, 1)
  assert.equal(shown.text.includes('whsec_'), false)
  assert.equal((await api.call('rail.show', { params: { railId: 'nobody' } })).status, 404)
})

const refused: [object, RegExp][] = [
  [{ railId: 'Bank' }, /railId must be 1 to 32 lower-case letters/],
  [{ url: 'ftp://bank.example' }, /address must be like https/],
  [{ url: 'https://user:pass@bank.example' }, /without user name/],
  [{ currencies: ['XXQ'] }, /ISO 4217/],
  [{ least: ['1.001 EUR'] }, /2 decimal places/],
  [{ least: ['1 GBP'] }, /does not support GBP\. Add it/],
  [{ least: ['2 EUR'], most: ['1 EUR'] }, /maximum in EUR is below the minimum/],
  [{ logo: '<html>' }, /must be an SVG image/],
]
for (const [given, message] of refused)
  test(`a rail with ${JSON.stringify(given)} is refused, and told what to change`, async () => {
    const { status, msg } = await api.call('rail.add', { body: { ...bank, railId: 'other', ...given } })
    assert.equal(Math.floor(status / 100), 4)
    assert.match(msg, message)
  })

const ports = [gateway.url, gateway.adminUrl].map((url) => new URL(url).port)
const machine = Object.values(networkInterfaces())
  .flatMap((found = []) => found)
  .map(({ address, family }) => (family === 'IPv6' ? `[${address.split('%')[0]}]` : address))
for (const host of [
  ...[
    '127.0.0.1',
    '127.9.9.9',
    'localhost',
    'pay.localhost',
    'LOCALHOST.',
    '0x7f.1',
    '2130706433',
    '①②⑦.0.0.1',
  ],
  ...['[::1]', '[::ffff:127.0.0.1]', '[0:0:0:0:0:ffff:7f00:1]', ...machine],
])
  test(`a rail at ${host} cannot be the gateway itself, neither new nor changed`, async () => {
    for (const port of ports) {
      const url = `http://${host}:${port}/`
      for (const [id, given] of [
        ['rail.add', { body: { ...bank, railId: 'self', url } }],
        ['rail.change', { params, body: { url, reason } }],
      ] as const) {
        const { status, msg, data } = await api.call(id, given)
        assert.deepEqual([status, data.field], [400, 'url'], `${id} ${url}`)
        assert.match(
          msg,
          /cannot send messages to this address: (the gateway itself listens there|\S+ is not a)/,
        )
      }
    }
  })

test('a rail by command cannot be the gateway itself', async () => {
  const environment = { DATABASE_URL: databaseUrl, MASTER_KEY: masterKey.toString('base64') }
  const args = ['rail', 'add', '--id', 'self', '--name', 'Self', '--currencies', 'EUR', '--reason', 'x']
  for (const port of [9001, 9002]) {
    const at = ['--url', `http://localhost:${port}/`]
    const { code, err } = await runCommand({ ...environment, PORT: '9001', ADMIN_PORT: '9002' }, [
      ...args,
      ...at,
    ])
    assert.equal(code, 1)
    assert.match(err, /the gateway itself listens there/)
  }
})

test('a live gateway takes https alone', async () => {
  const { makeManageRails } = await import('../../src/finance/rails/manage-rails.ts')
  const vault = makeVault(masterKey)
  const live = makeManageRails({
    rails: stores.rails,
    vault,
    clock,
    random: randomBytes,
    mode: 'live',
  })
  const by = reachingAll('test')
  const { rail } = await live.showRail(by, 'bank')
  await assert.rejects(live.addRail(by, 'plain', rail, reason), /Live mode requires https/)
  await assert.rejects(live.changeRail(by, 'bank', { url: 'http://bank.example' }, reason), /requires https/)
})

async function rotate(body: { endOthers: boolean; reason: string }): Promise<string> {
  const headers = { 'idempotency-key': randomUUID() }
  return (await api.data('rail.rotate-secret', { params, body, headers })).secret
}

test('of three secrets the newest two are good, and a stolen one ends at once', async () => {
  const first = (await directory()).get('bank')?.secrets[0]
  const second = await rotate({ endOthers: false, reason })
  assert.deepEqual((await directory()).get('bank')?.secrets, [second, first])
  const third = await rotate({ endOthers: false, reason })
  assert.deepEqual((await directory()).get('bank')?.secrets, [third, second])
  const fourth = await rotate({ endOthers: true, reason })
  assert.deepEqual((await directory()).get('bank')?.secrets, [fourth])
})

test('the console lists rails, shows one, and takes its forms', async () => {
  const { rail: paper } = await actingAs(operations, 'test').rails.showRail('bank')
  assert.match((await console.get('/rails')).text, /My bank[\s\S]*offered/)
  const page = (await console.get('/rails/bank')).text
  for (const label of ['Change…', 'Pause…', 'Rotate the secret…']) assert(page.includes(label), label)
  assert(!page.includes('Resume…'))
  const [before] = (await directory()).get('bank')?.secrets ?? []
  const form = { endOthers: 'false', reason, formId: randomUUID() }
  const { text } = await console.post('/rails/bank/secrets', form)
  const [secret = ''] = /whsec_[\w+/=]+/.exec(text) ?? []
  assert(
    (await console.post('/rails/bank/secrets', form)).text.includes(secret),
    'sent again, it is the same',
  )
  assert.deepEqual((await directory()).get('bank')?.secrets, [secret, before])
  assert.match(await console.told('/rails/bank/pause', { reason }), /no longer offered/)
  assert.match((await console.get('/rails/bank')).text, /Resume…[\s\S]*Paused/)
  assert.match(
    await console.told('/rails/bank/change', {
      name: 'Our bank',
      url: String(paper.url),
      currencies: 'EUR',
      position: '',
      reason,
      logo: '<svg xmlns="http://www.w3.org/2000/svg"/>',
    }),
    /rail was changed/,
  )
  const { rail } = await actingAs(operations, 'test').rails.showRail('bank')
  assert.deepEqual([rail.name, rail.currencies, rail.position], ['Our bank', ['EUR'], 100])
})

test('a rail is offered for its merchants, currencies and amounts, unless it is paused or fails', () => {
  const rail: OutsideRail = {
    railId: 'bank',
    name: 'Bank',
    names: {},
    url: 'https://bank.example/',
    currencies: ['EUR'],
    leastMinor: { EUR: 100n },
    mostMinor: { EUR: 500n },
    merchants: ['1'],
    position: 1,
    logo: undefined,
    isPaused: false,
    failures: 0,
    lastFailure: undefined,
    pausedUntilMs: undefined,
    authorizationDays: undefined,
    createdAtMs: 0,
  }
  const toPay = { merchantId: '1', currency: 'EUR', amountMinor: 100n }
  assert.equal(isOffered(rail, toPay, 0), true)
  assert.equal(isOffered(rail, { ...toPay, amountMinor: 99n }, 0), false)
  assert.equal(isOffered(rail, { ...toPay, amountMinor: 500n }, 0), true)
  assert.equal(isOffered(rail, { ...toPay, amountMinor: 501n }, 0), false)
  assert.equal(isOffered(rail, { ...toPay, currency: 'USD' }, 0), false)
  assert.equal(isOffered(rail, { ...toPay, merchantId: '2' }, 0), false)
  assert.equal(isOffered({ ...rail, isPaused: true }, toPay, 0), false)
  assert.equal(isOffered({ ...rail, pausedUntilMs: 10 }, toPay, 9), false)
  assert.equal(isOffered({ ...rail, pausedUntilMs: 10 }, toPay, 10), true)
})

test('rails are offered by their positions', async () => {
  const last = async () => (await actingAs(operations, 'test').rails.listRails()).at(-1)?.railId
  for (const [position, isLast] of [
    [1_000, true],
    [1, false],
    [100, false],
  ] as const) {
    await api.call('rail.change', { params: { railId: 'bank' }, body: { position, reason } })
    assert.equal((await last()) === 'bank', isLast, String(position))
  }
})

test('a rail that fails is paused from the third time on, ever longer, never for more than 15 minutes', async () => {
  assert.deepEqual([1, 2, 3, 4, 30].map(pauseAfter), [undefined, undefined, 15_000, 30_000, 900_000])
  const nowMs = clock.now()
  const fail = (at: number) =>
    stores.rails.noteFailure('desk', { failure: 'timeout', nowMs: at, emailsFor: () => [] })
  assert.deepEqual(
    [await fail(nowMs), await fail(nowMs), await fail(nowMs)],
    [undefined, undefined, nowMs + 15_000],
  )
  assert.equal(await fail(nowMs + 1), undefined, 'calls that were under way do not count twice')
  assert.equal(await fail(nowMs + 15_000), nowMs + 45_000)
  await stores.rails.noteAnswer('desk')
  const { rail } = await actingAs(operations, 'test').rails.showRail('desk')
  assert.deepEqual([rail.failures, rail.pausedUntilMs, rail.lastFailure], [0, undefined, 'timeout'])
})
