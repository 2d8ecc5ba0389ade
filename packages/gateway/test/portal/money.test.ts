// The shop's money in its portal, over HTTP: bank account, payment links, payouts, fees and bills. Each action is recorded
// with who did it, and asks what the operator's action would ask.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actingAs } from '../support/acting.ts'
import { until } from '../support/callbacks.ts'
import { startTestGateway } from '../support/gateway.ts'
import { giveBankAccount, planFor, testIban } from '../support/payouts.ts'
import { memberOf, memberPassword as password } from '../support/portal.ts'

const gateway = await startTestGateway()
const shop = await gateway.addMerchant({ name: 'Tea House' })
const { merchantId } = shop
const { client: owner } = await memberOf(gateway, merchantId, 'owner')
const { client: finance } = await memberOf(gateway, merchantId, 'finance')
await shop.paidOrder()

async function recorded(act: string): Promise<string[]> {
  const { rows } = await gateway.pool.query<{ actor: string }>(
    'select actor from audit where act = $1 and merchant_id = $2 order by audit_id',
    [act, merchantId],
  )
  return rows.map(({ actor }) => actor.split(':')[0] ?? '')
}

const change = '/merchant/bank/change'
const account = { currency: 'USD', holder: 'Tea House GmbH', iban: testIban }

test('a new bank account wants the owner’s password, waits, and can be stopped until then', async () => {
  assert.equal((await owner.post(change, account, { on: change })).status, 422)
  const wrong = await owner.post(change, { ...account, iban: 'DE00', password }, { on: change })
  assert.equal(wrong.status, 422)
  assert.match(wrong.text, /value="Tea House GmbH"/)
  assert.equal(
    (await owner.post(change, { ...account, password }, { on: change })).location,
    '/merchant/bank',
  )
  const { text } = await finance.get('/merchant/bank')
  assert.match(text, /Tea House GmbH/)
  assert.match(text, /class="pill wait"/)
  assert.doesNotMatch(text, /bank\/change/)
  const [, stop = ''] = /href="(\/merchant\/bank\/[^"]+\/stop)"/.exec(text) ?? []
  assert.equal((await finance.post(stop, {}, { on: stop })).location, '/merchant/bank')
  assert.match((await owner.get('/merchant/bank')).text, /Stopped/)
  assert.deepEqual(await recorded('merchant.bank-account'), ['member'])
})

test('where operators want a second one for bank accounts, no member changes one', async () => {
  const strict = await startTestGateway({ share: gateway, environment: { APPROVAL_FOR: 'bank-account' } })
  const { client } = await memberOf(strict, merchantId, 'owner')
  const page = await client.get('/merchant/bank')
  assert.match(page.text, /contact the operator/)
  assert.doesNotMatch(page.text, /bank\/change/)
  const refused = await client.post(change, { ...account, password }, { on: change })
  assert.equal(refused.status, 422)
  assert.deepEqual(await recorded('merchant.bank-account'), ['member'])
})

test('the lines of a bank account without an IBAN may have commas', async () => {
  const lines = ['Account 12345678', 'Example Bank, London']
  const { iban: _iban, ...without } = account
  const sent = { ...without, currency: 'GBP', lines: lines.join('\r\n'), bic: 'BARCGB22', password }
  assert.equal((await owner.post(change, sent, { on: change })).location, '/merchant/bank')
  const kept = await actingAs(gateway.operations, 'test').bankAccounts.listBankAccounts(merchantId)
  assert.deepEqual(kept.find(({ currency }) => currency === 'GBP')?.lines, lines)
})

test('a payment link is made once however often its form is sent, paid, paused and closed', async () => {
  const path = '/merchant/links/new'
  const screen = await finance.get(path)
  assert.match(screen.text, /<option value="USD" selected>USD – US Dollar</)
  const [, linkNo = ''] = /name="linkNo" value="([^"]+)"/.exec(screen.text) ?? []
  const form = { linkNo, title: 'A cup of tea', currency: 'USD', amount: '3.50', uses: 'many' }
  for (let index = 0; index < 2; index++)
    assert.match((await finance.post(path, form, { on: path })).location ?? '', /^\/merchant\/links\/L\w+$/)
  const both = await finance.post(path, { ...form, leastAmount: '1' }, { on: path })
  assert.equal(both.status, 422)
  const { text } = await owner.get('/merchant/links')
  const links = [...text.matchAll(/href="(\/merchant\/links\/L[^"]+)"/g)].map(([, link = '']) => link)
  assert.equal(links.length, 1)
  const link = links[0] ?? ''
  const shown = await owner.get(link)
  const [, qr = ''] = /<img class="qr" src="([^"]+)"/.exec(shown.text) ?? []
  assert.equal((await fetch(gateway.url + qr)).headers.get('content-type'), 'image/svg+xml')
  assert.equal((await finance.post(`${link}/pause`, {}, { on: `${link}/pause` })).location, link)
  assert.match((await owner.get(link)).text, /Paused/)
  assert.equal((await finance.post(`${link}/resume`, {}, { on: `${link}/resume` })).location, link)
  assert.equal((await finance.post(`${link}/close`, {}, { on: `${link}/close` })).location, link)
  const again = await finance.post(`${link}/resume`, {}, { on: `${link}/close` })
  assert.equal(again.status, 422)
  assert.deepEqual(await recorded('link.create'), ['member'])
})

test('the newest transactions are listed in words, with their order or payout, and all of them in pages', async () => {
  for (let index = 0; index < 11; index++) await shop.paidOrder()
  const { text } = await owner.get('/merchant/money')
  const rows = [...text.matchAll(/<a href="(\/merchant\/orders\/P\w+)">Payment</g)]
  assert.equal(rows.length, 10)
  assert.match((await owner.get(rows[0]?.[1] ?? '')).text, /Timeline/)
  assert.match(text, /href="\/merchant\/money\/transactions"/)
  const all = await owner.get('/merchant/money/transactions')
  const times = [...all.text.matchAll(/<td[^>]*><time datetime="([^"]+)"/g)].map(([, time]) => time)
  assert.ok(times.length > 10)
  assert.deepEqual(times, times.toSorted().toReversed())
  const { readMerchant } = gateway.operations
  const context = { actor: 'test', merchantId }
  const entries = await readMerchant.listLatest(context, { limit: 100 })
  const paged = []
  for (let before: (typeof entries)[number] | undefined; ; before = paged.at(-1)) {
    const page = await readMerchant.listLatest(context, { before, limit: 3 })
    paged.push(...page)
    if (page.length < 3) break
  }
  assert.deepEqual(paged, entries)
})

test('the home page says when the next payout is, and of how much', async () => {
  const { payoutPlans } = actingAs(gateway.operations, 'test')
  await payoutPlans.setPlan(planFor(merchantId, { schedule: 'daily' }), 'test')
  const { text } = await owner.get('/merchant')
  const figure = /Next payout<\/a><\/dt><dd>(.*?)<\/dd>/.exec(text)?.[1] ?? ''
  assert.match(figure, /\$\d+\.\d\d/)
  assert.match(figure, /<time datetime="\d{4}-\d\d-\d\d">/)
})

test('payouts and the bill of a day are seen, and the bill’s file is the one that the method answers', async () => {
  await giveBankAccount(gateway.pool, merchantId)
  const { payouts } = actingAs(gateway.operations, 'test')
  const { payoutId } = await payouts.requestPayout(
    { merchantId, currency: 'USD', amountMinor: 300n, bankName: 'main' },
    { reason: 'test' },
  )
  assert.match((await finance.get('/merchant/payouts')).text, new RegExp(payoutId))
  assert.match((await finance.get(`/merchant/payouts/${payoutId}`)).text, /Requested/)
  assert.match((await finance.get('/merchant/fees')).text, /No fee/)
  // As of two days ago, because a day is billed when it is over.
  await gateway.pool.query('update transfers set made_at = made_at - 172800000 where merchant_id = $1', [
    merchantId,
  ])
  await gateway.pool.query('delete from bill_turns where merchant_id = $1', [merchantId])
  await gateway.operations.makeBills()
  let file = ''
  // The gateway's own worker may be at it.
  await until(async () => {
    const { text } = await finance.get('/merchant/bills')
    file = /href="(\/merchant\/bills\/[^"]+\/bill\.csv)"/.exec(text)?.[1] ?? ''
    return file !== ''
  })
  const { text: csv, headers } = await finance.get(file)
  assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="bill-/)
  const [, date = ''] = /bills\/([^/]+)\//.exec(file) ?? []
  const answered = await shop.call('service.bill.get', { date })
  assert.equal(await (await fetch(answered.data.downloadUrl)).text(), csv)
})
