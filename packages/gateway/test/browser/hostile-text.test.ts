// Hostile text in every field, and every page of every adapter in a real Chromium: nothing of it runs, nothing becomes part of
// a page, and every page shows it as the text that it is. Then mails, files for spreadsheets, and what is typed into forms.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import { prefix as portalPrefix } from '../../src/adapters/portal/portal.ts'
import { playgroundPath } from '../../src/adapters/sandbox/paths.ts'
import { reachingAll } from '../../src/core/authority/context.ts'
import { emailLanguages } from '../../src/core/emails/rules/email.ts'
import { type EmailKind, emailKinds, kindOf } from '../../src/core/emails/rules/kinds.ts'
import { writeMessage } from '../../src/core/emails/rules/write-message.ts'
import { actingAs } from '../support/acting.ts'
import { launchBrowser } from '../support/browser.ts'
import { until } from '../support/callbacks.ts'
import { ConsoleClient } from '../support/console.ts'
import { type Adapter, adaptersOf, addressOf, pathsOf } from '../support/hostile/adapters.ts'
import { plantApplications } from '../support/hostile/applications.ts'
import { cellsOf, isFormula } from '../support/hostile/csv-cells.ts'
import { HostileTexts } from '../support/hostile/texts.ts'
import { HostileVisitor, type Looked } from '../support/hostile/visitor.ts'
import { plantHostileTexts } from '../support/hostile/world.ts'
import { textOf } from '../support/mail-server.ts'
import { openTestBank, startMessage } from '../support/test-bank.ts'
import { testPin } from '../support/wallet.ts'

const world = await plantHostileTexts()
const { gateway, texts, special } = world
const adapters = adaptersOf(world)
const browser = await launchBrowser()
const seenAnywhere = new Set<string>()
const visitorOf = ({ origin, cookies }: Adapter) =>
  HostileVisitor.open(browser, { origins: [origin], cookies })
const stranger = (...more: string[]) => HostileVisitor.open(browser, { origins: [gateway.url, ...more] })

function note({ seen }: Looked): Set<string> {
  for (const marker of seen) seenAnywhere.add(marker)
  return texts.fieldsOf(seen)
}

for (const adapter of adapters)
  test(`${adapter.name}: every page shows what was written as text`, async () => {
    const visitor = await visitorOf(adapter)
    const without: string[] = []
    for (const path of pathsOf(adapter, 'show')) {
      const looked = await visitor.look(addressOf(adapter, path))
      assert.equal(looked.status, 200, path)
      if (note(looked).size === 0) without.push(path)
    }
    assert.deepEqual(visitor.faults, [])
    assert.deepEqual(without, adapter.bare)
    await visitor.close()
  })

test('the checkout and payment links: in every state, and from right to left', async () => {
  const visitor = await stranger()
  const own: Readonly<Record<string, readonly string[]>> = {
    instructions: ['instruction label', 'instruction value'],
    code: ['caption'],
  }
  for (const [name, { url }] of Object.entries(special))
    for (const address of [url, `${url}?lang=ar`]) {
      const fields = note(await visitor.look(address))
      for (const field of ['goods.goodsName', 'merchant name', ...(own[name] ?? [])])
        assert(fields.has(field), `${name} shows no ${field}: ${[...fields]}`)
    }
  for (const each of world.linkIds)
    for (const query of ['', '?lang=ar'])
      assert(note(await visitor.look(`${gateway.url}/l/${each}${query}`)).has('link title'))
  assert.deepEqual(visitor.faults, [])
  await visitor.close()
})

test('every order, link, wallet and attempt at a rail, as each of the adapters shows it', async () => {
  const { merchantId } = world.merchant
  const [wallet, portal, admin] = await Promise.all(adapters.map(visitorOf))
  assert(wallet && portal && admin)
  for (const order of world.orders) {
    note(await portal.read(`${gateway.url}${portalPrefix}/orders/${order.paymentId}`))
    note(await admin.read(`${gateway.adminUrl}/orders/${merchantId}/${order.paymentId}`))
    assert(note(await portal.read(order.url)).has('goods.goodsDesc'))
  }
  for (const { paymentId: each } of Object.values(special))
    note(await admin.look(`${gateway.adminUrl}/orders/${merchantId}/${each}`))
  for (const each of world.linkIds) {
    note(await portal.read(`${gateway.url}${portalPrefix}/links/${each}`))
    note(await admin.read(`${gateway.adminUrl}/links/${merchantId}/${each}`))
  }
  note(await admin.read(`${gateway.adminUrl}/money/banks/second`))
  for (const visitor of [wallet, portal, admin]) {
    assert.deepEqual(visitor.faults, [])
    await visitor.close()
  }
})

test('doors, documentation, sandbox and the test bank', async () => {
  const bank = await openTestBank()
  const visitor = await stranger(bank.url)
  const typed = new HostileTexts()
  const asked = () => encodeURIComponent(typed.text('asked', { max: 60 }))
  const [invitation, recovery] = world.doors
  assert(note(await visitor.look(`${gateway.url}${invitation}`)).has('merchant name'))
  note(await visitor.look(`${gateway.url}${recovery}`))
  for (const path of [
    ...[
      '/',
      '/docs',
      '/docs/api',
      `/docs/search?q=${asked()}`,
      `/docs/${asked()}`,
      '/sandbox',
      playgroundPath,
    ],
    ...[`/merchant/sign-in?next=${asked()}`, '/merchant/forgotten', `/merchant/join/${asked()}`],
    ...[`/wallet/sign-in?next=${asked()}`, '/wallet/forgotten', '/wallet/new-pin', '/wallet/register'],
    ...['/wallet/closed', `/checkout/${asked()}/${asked()}/${asked()}`, `/l/${asked()}`],
    ...[`/emails/unsubscribe?kind=${asked()}&email=${asked()}&token=${asked()}`, `/${asked()}`],
  ])
    await visitor.look(gateway.url + path)
  const search = await visitor.look(`${gateway.url}/docs/search?q=${asked()}`)
  assert.equal(search.seen.length, 1)
  const name = typed.text('name at the sandbox', { max: 100 })
  const given = await visitor.look(`${gateway.url}/sandbox`, async (page) => {
    await page.locator('#name').fill(name)
    await page.getByRole('button').first().click()
    await page.locator('#env').waitFor({ state: 'attached' })
  })
  assert(given.status === 200)
  await visitor.look(`${gateway.url}${playgroundPath}`, async (page) => {
    for (const field of ['#credentials', '#body', '#callback'])
      await page.locator(field).fill(typed.text('playground'))
  })
  const start = startMessage({
    merchantName: typed.text('merchantName'),
    description: typed.text('description'),
    orderNo: typed.text('orderNo', { max: 64 }),
  })
  await bank.send(start)
  for (const path of [`/pay/${start.transactionId}`, '/'])
    assert((await visitor.look(bank.url + path)).seen.length > 0, path)
  assert.deepEqual(visitor.faults, [])
  await visitor.close()
})

test('a picture that holds a script runs none', async () => {
  const visitor = await stranger()
  assert.deepEqual(await visitor.run(`${gateway.url}/rails/bank/logo.svg`), [])
  await visitor.close()
})

test('applications, at the applicant’s page and in the console', async () => {
  const { gateway: live, made } = await plantApplications(texts)
  const admin = new ConsoleClient(live)
  await admin.signIn()
  const visitor = await HostileVisitor.open(browser, {
    origins: [live.adminUrl, live.url],
    cookies: admin.cookies,
  })
  for (const path of ['/overview', '/applications', '/audit'])
    assert(note(await visitor.look(live.adminUrl + path)).size > 0 || path === '/overview', path)
  for (const { token, applicationId } of made) {
    assert(note(await visitor.look(`${live.url}/merchant/applications/${token}`)).has('business'))
    assert(note(await visitor.look(`${live.adminUrl}/applications/${applicationId}`)).has('about'))
  }
  const [form] = await visitor.forms(`${live.url}/merchant/apply`)
  const typed = new HostileTexts()
  const given = (form?.fields ?? []).map(({ name, value }) => [name, value || typed.text(name)])
  const refused = await visitor.read(`${live.url}/merchant/apply`, Object.fromEntries(given))
  assert.equal(refused.status, 422)
  assert.equal(refused.seen.length, 7)
  assert.deepEqual(visitor.faults, [])
  await visitor.close()
})

test('mails: every kind in every language, and those that were sent', async () => {
  const visitor = await stranger()
  const link = 'https://pay.example/merchant/join/x'
  for (const kind of Object.keys(emailKinds) as EmailKind[])
    for (const language of emailLanguages) {
      const gaps = kindOf(kind).gaps.map((gap) => [gap, texts.text('mail', { takesHidden: true })] as const)
      const { html, subject } = writeMessage({
        kind,
        language,
        parameters: Object.fromEntries(gaps),
        link: kindOf(kind).hasLink && link,
        unsubscribeUrl: link,
      })
      assert.doesNotMatch(subject, /\p{Cc}/u)
      const name = `${kind} in ${language}`
      const looked = language === 'en' ? await visitor.show(name, html) : await visitor.readHtml(html)
      assert(note(looked).has('mail') || gaps.length === 0, name)
    }
  const isHostile = ({ raw }: { raw: string }) => /hx[0-9a-z]{3}xh/.test(textOf(raw))
  await until(() => world.mail.received.some(isHostile))
  for (const { raw } of world.mail.received) {
    note(await visitor.show('a mail', textOf(raw, 'html')))
    const [head = ''] = raw.split(/\r?\n\r?\n/)
    for (const line of head.split(/\r?\n(?![ \t])/)) assert.match(line, knownHeader)
  }
  assert.deepEqual(visitor.faults, [])
  await visitor.close()
})
const knownHeader =
  /^(From|To|Subject|Message-ID|Date|MIME-Version|Content-Type|Content-Transfer-Encoding|Auto-Submitted|List-Unsubscribe|List-Unsubscribe-Post|Reply-To|X-Auto-Response-Suppress):\s/i

/** A PDF has no cells. */
const filesOf = (adapter: Adapter) => pathsOf(adapter, 'download').filter((path) => !path.endsWith('.pdf'))

for (const adapter of adapters.filter((each) => filesOf(each).length > 0))
  test(`${adapter.name}: no cell of a file is a formula`, async () => {
    const visitor = await visitorOf(adapter)
    for (const path of filesOf(adapter)) {
      const { text, type } = await visitor.text(addressOf(adapter, path))
      if (!path.endsWith('/days.csv')) assert.match(text, /hx[0-9a-z]{3}xh/, path)
      if (type.startsWith('text/csv'))
        for (const separator of [',', ';', '\t'] as const)
          assert.deepEqual(cellsOf(text, separator).filter(isFormula), [], path)
      else assert.match(type, /^application\/xml/, path)
    }
    await visitor.close()
  })

test('fields of a closed form take none of it', async () => {
  const typed = new HostileTexts()
  const { apiTokens } = gateway.operations
  const { wallets, members } = actingAs(gateway.operations, 'test')
  const { merchantId } = world.merchant
  for (let kind = 0; kind < HostileTexts.kinds; kind++) {
    const text = typed.text('closed', { max: 60 })
    const token = { login: 'admin', name: text, scopes: [], days: 1 }
    await assert.rejects(apiTokens.addToken(reachingAll('test'), token), /name must be/, text)
    await assert.rejects(
      wallets.addWallet({ login: text, name: 'Mira', pin: testPin, reason: 'test' }),
      Failure,
      text,
    )
    await assert.rejects(members.inviteMember({ merchantId, email: text, role: 'viewer' }), Failure, text)
    for (const [id, request] of [
      ['bank.add', { body: { bankName: text, currency: 'USD', holder: 'x', reason: 'test' } }],
      ['merchant.change', { params: { merchantId }, body: { callbackHosts: [text], reason: 'test' } }],
      ['merchant.change', { params: { merchantId }, body: { accentColour: text, reason: 'test' } }],
      ['merchant.change', { params: { merchantId }, body: { contactEmails: [text], reason: 'test' } }],
      ['rail.change', { params: { railId: 'bank' }, body: { logo: text, reason: 'test' } }],
    ] as const)
      assert.equal((await world.api.call(id, request)).code, 40001, `${id}: ${text}`)
  }
})

test('every text that was planted was shown somewhere', () => {
  const shown = texts.fieldsOf(seenAnywhere)
  const fields = new Set([...texts.planted.values()].map(({ field }) => field))
  // What a code says is a picture.
  const unseen = ['code']
  assert.deepEqual(
    [...fields].filter((field) => !shown.has(field)),
    unseen,
  )
})

for (const adapter of adapters)
  test(`${adapter.name}: what stands in an address, or is typed into a form, comes back as text`, async () => {
    const visitor = await visitorOf(adapter)
    const typed = new HostileTexts()
    let forms = 0
    let shown = 0
    for (const path of pathsOf(adapter, 'show')) {
      const address = addressOf(adapter, path)
      const query = new URLSearchParams(
        Object.fromEntries(asked.map((name) => [name, typed.text(name, { max: 60 })])),
      )
      shown += (await visitor.read(`${address}?${query}`)).seen.length
      await visitor.read(
        adapter.origin + adapter.prefix + path.replace(/:\w+/g, encodeURIComponent(typed.text('id'))),
      )
      for (const { action, fields } of await visitor.forms(address)) {
        if (ends.test(action) || fields.every(({ type }) => type === 'hidden')) continue
        const given = fields.map(({ name, type, value }) => {
          if (type === 'hidden' || type === 'checkbox') return [name, value]
          return [name, type === 'password' ? '' : typed.text(name)]
        })
        forms++
        shown += (await visitor.read(new URL(action, address).href, Object.fromEntries(given))).seen.length
      }
    }
    assert.deepEqual(visitor.faults, [])
    assert(forms > 2 && shown > forms, `${forms} forms, ${shown} texts`)
    await visitor.close()
  })
/** What pages ask for in their addresses. */
const asked = [
  ...[
    'q',
    'status',
    'state',
    'event',
    'host',
    'merchant',
    'currency',
    'number',
    'before',
    'after',
    'from',
    'to',
  ],
  ...[
    'month',
    'day',
    'account',
    'owner',
    'kind',
    'lang',
    'next',
    'rate',
    'code',
    'id',
    'login',
    'name',
    'act',
  ],
]
/** After these nobody is signed in, or the language is another one. */
const ends = /sign-out|end-all|sessions\/end|devices\/end|second-step|passkeys|language|\/close$/
