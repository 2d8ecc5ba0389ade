// One declaration of an action makes its route, its command and its form, and from each it is done and recorded once. And
// a form that is refused comes back as it was typed, with every error at its field.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { makeUuid } from '@tillgate/protocol'
import { defineAction } from '../../src/actions/action.ts'
import { catalog } from '../../src/actions/catalog.ts'
import { displayed, object, text } from '../../src/actions/fields.ts'
import { reason } from '../../src/actions/shared-fields.ts'
import { apiPrefix, routesOf } from '../../src/adapters/admin-api/api.ts'
import { makeOpenApi } from '../../src/adapters/admin-api/openapi.ts'
import { commandLine } from '../../src/app/command-line.ts'
import { reachingAll } from '../../src/core/authority/context.ts'
import { makeManageTokens } from '../../src/identity/operators/manage-api-tokens.ts'
import { makeApiTokenStore } from '../../src/identity/operators/store/api-tokens.ts'
import { makeOperatorStore } from '../../src/identity/operators/store/operators.ts'
import { systemClock } from '../../src/platform/runtime/clock.ts'
import { databaseOf, openTerminal } from '../support/command.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'

const host = text('Which shop.', { max: 100 })
const hush = defineAction({
  name: 'shop.hush',
  effects: [],
  summary: 'Hush a shop for a minute',
  scope: 'callbacks:act',
  params: object('Which shop.', { host }),
  input: object('Why.', { mood: displayed(text('How it is.', { max: 20 }), { label: 'Mood' }), reason }),
  answer: object('The shop.', { host }),
  forms: [
    {
      place: 'merchants',
      path: '/shops/:host/hush',
      page: '/merchants',
      label: 'Hush the shop…',
      explains: 'Nothing is sent to it for a minute.',
      button: 'Hush it',
    },
  ],
  async run({ operations, context, params, input }) {
    await operations.hosts.pauseHost(context, { host: params.host, forMs: 60_000, reason: input.reason })
    return { host: params.host }
  },
  reply: (answer) => ({ text: `${answer.host} is hushed.` }),
})
const acts = [...catalog, hush]
const gateway = await startTestGateway({ catalog: acts })
const admin = new ConsoleClient(gateway)
await admin.signIn()

async function recorded(subject: string): Promise<string[]> {
  const { rows } = await gateway.pool.query<{ what: string }>(
    "select act || ' by ' || split_part(actor, ':', 1) || ': ' || reason as what from audit where subject = $1",
    [subject],
  )
  return rows.map(({ what }) => what)
}

test('a declared act is a route with its description', async () => {
  const path = `${apiPrefix}/shops/{host}/hush`
  const described = JSON.stringify(makeOpenApi(routesOf(acts)).paths[path])
  assert.match(described, /"operationId":"shopHush".*"required":\["mood","reason"\]/)
  const served = await (await fetch(`${gateway.adminUrl}/openapi.json`)).text()
  assert(JSON.stringify(JSON.parse(served)).includes(described))
  const tokens = makeManageTokens({
    tokens: makeApiTokenStore(gateway.pool),
    operators: makeOperatorStore(gateway.pool),
    clock: systemClock,
    random: randomBytes,
  })
  const given = { login: 'admin', name: 'tests', scopes: ['callbacks:act'], days: 1 }
  const { token } = await tokens.addToken(reachingAll('test'), given)
  const response = await fetch(`${gateway.adminUrl}${apiPrefix}/shops/api.example/hush`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ mood: 'loud', reason: 'by program' }),
  })
  assert.equal(await response.text(), '{"code":20000,"msg":"SUCCESS","data":{"host":"api.example"}}')
  assert.deepEqual(await recorded('api.example'), ['callback-host.pause by api: by program'])
})

test('a declared act is a command with its help', async () => {
  const { terminal } = openTerminal(databaseOf(gateway))
  const program = commandLine(acts, terminal)
  const command = program.commands.find((each) => each.name() === 'shop')?.commands[0]
  assert.match(
    command?.helpInformation() ?? '',
    /shop hush \[options\] <host>[\s\S]*--mood <text> +How it is\. \(required\)/,
  )
  await program.parseAsync(['shop', 'hush', 'cli.example', '--mood', 'loud', '--reason', 'by hand'], {
    from: 'user',
  })
  assert.deepEqual(await recorded('cli.example'), ['callback-host.pause by cli: by hand'])
})

test('a declared act is a form on its page', async () => {
  assert.match((await admin.get('/merchants')).text, /Hush the shop…[\s\S]*name="mood" value="" required/)
  assert.match(
    await admin.told('/shops/form.example/hush', { mood: 'loud', reason: 'by form' }),
    /form\.example is hushed/,
  )
  assert.deepEqual(await recorded('form.example'), ['callback-host.pause by console: by form'])
})

test('a refused form comes back open on its page, as it was typed, with every error at its field', async () => {
  const { merchantId } = await gateway.addMerchant({ name: 'Tea House' })
  const from = `/merchants/${merchantId}`
  const sent = await admin.post(`${from}/change`, {
    from,
    name: 'Tea <Palace>',
    requestsPerSecond: 'many',
    accentColour: 'greenish',
    callbackHosts: 'shop.example',
    reason: '',
  })
  assert.equal(sent.status, 422)
  const [form = ''] = /<details class="act" open>[\s\S]*?<\/details>/.exec(sent.text) ?? []
  assert.match(form, /action="\/merchants\/\d+\/change"/)
  for (const typed of [
    'value="Tea &lt;Palace&gt;"',
    'value="many"',
    'value="greenish"',
    'value="shop.example"',
  ])
    assert(form.includes(typed), typed)
  for (const field of ['requestsPerSecond', 'accentColour', 'reason']) {
    assert.match(
      form,
      new RegExp(`id="field-${field}" aria-invalid="true" aria-describedby="error-${field}"`),
    )
    assert.match(form, new RegExp(`id="error-${field}">[^<]+`))
    assert.match(sent.text, new RegExp(`<li><a href="#field-${field}">`))
  }
  assert.equal([...sent.text.matchAll(/aria-invalid/g)].length, 3)
  assert.match(form, /id="field-requestsPerSecond"[^>]* autofocus/)
  assert.equal([...sent.text.matchAll(/ autofocus/g)].length, 1)
  assert.equal([...sent.text.matchAll(/class="act" open/g)].length, 1)
  assert.match((await admin.get(from)).text, /<h1>Tea House/)
})

test('amount, currency and reason are found wrong at once, and the form can be sent again', async () => {
  const { merchantId } = await gateway.addMerchant()
  const path = `/merchants/${merchantId}/payout`
  const formId = makeUuid(systemClock.now(), randomBytes)
  const { text: refused } = await admin.post(path, { formId, amount: '1.234', currency: 'usd', reason: '' })
  assert.match(refused, /id="error-amount">[^<]*2 decimal places/)
  assert.match(refused, /id="error-reason">/)
  assert.doesNotMatch(refused, /id="error-currency">/)
  // A new number: the old one may be known by what was refused.
  const [open = ''] = /<details class="act" open>[\s\S]*?<\/details>/.exec(refused) ?? []
  const [, next] = /name="formId" value="([^"]+)"/.exec(open) ?? []
  assert(next !== undefined && next !== formId)
  assert.match(
    await admin.told(path, { formId: next, amount: '1', currency: 'XXQ', reason: 'x' }),
    /ISO 4217/,
  )
})

test('secrets do not come back, and another page than the console’s is not gone to', async () => {
  const fields = {
    name: 'nightly',
    days: '0',
    scopes: 'orders:read',
    password: 'a password',
    from: '//evil.example',
  }
  const { status, text } = await admin.post('/account/tokens', fields)
  assert.equal(status, 422)
  assert.doesNotMatch(text, /a password|evil/)
  assert.match(text, /value="orders:read" checked/)
  const { merchantId } = await gateway.addMerchant()
  for (const from of ['//evil.example', 'https://evil.example/merchants', '/\\evil.example', '/sign-out'])
    assert.equal(
      (await admin.post(`/merchants/${merchantId}/suspend`, { reason: 'x', from })).location,
      `/merchants/${merchantId}`,
    )
})
