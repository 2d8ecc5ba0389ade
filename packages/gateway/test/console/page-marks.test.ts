// Numbers, days and page marks in addresses, as nobody's page writes them: every page of console, portal and wallet passes
// over them or says that there is nothing, and the admin API refuses them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { catalog } from '../../src/actions/catalog.ts'
import { apiRoutes } from '../../src/adapters/admin-api/routes.ts'
import { consoleRoutes } from '../../src/adapters/console/routes.ts'
import { prefix as portalPrefix } from '../../src/adapters/portal/portal.ts'
import { portalRoutes } from '../../src/adapters/portal/route-table.ts'
import { walletRoutes } from '../../src/adapters/wallet/routes.ts'
import { prefix as walletPrefix } from '../../src/adapters/wallet/wallet.ts'
import { reachingAll } from '../../src/core/authority/context.ts'
import { scopeNames } from '../../src/identity/operators/rules/api-token.ts'
import { ApiClient } from '../support/admin-api.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { ConsoleClient } from '../support/console.ts'
import { giveBankAccount } from '../support/payouts.ts'
import { memberOf } from '../support/portal.ts'
import { consumerOf } from '../support/wallet.ts'

const shop = await openCheckoutShop()
const { gateway, merchant, clock } = shop
const { merchantId } = merchant
const { pool, operations } = gateway
const order = await shop.order()
await shop.pay(order, 'success')
await giveBankAccount(pool, merchantId, 'USD')
const given = { login: 'admin', name: 'tests', scopes: scopeNames, days: 1 }
const api = new ApiClient(gateway, (await operations.apiTokens.addToken(reachingAll('test'), given)).token)
const reason = 'test'
await api.data('merchant.payout', {
  params: { merchantId },
  body: { amount: '1', currency: 'USD', reason },
  headers: { 'idempotency-key': '1' },
})
const { payouts } = await api.data('payout.list')
const file = camt053({
  iban: 'DE89370400440532013000',
  currency: 'EUR',
  version: 8,
  from: '2026-01-05',
  through: '2026-02-28',
  openingMinor: 500_000_000_000n,
  lines: [{ reference: 'ENTRY-1', day: '2026-01-05', amountMinor: 500n, text: 'who knows' }],
})
const { importId } = await api.data('reconcile.import', { file, query: { account: 'bank:main', reason } })
const { breaks } = await api.data('reconcile.list')
const { wallets } = await api.data('wallet.list')
const things: Readonly<Record<string, string>> = {
  merchantId,
  paymentId: order.paymentId,
  walletId: wallets[0].walletId,
  payoutId: payouts[0].payoutId,
  runId: payouts[0].runId,
  importId,
  breakId: breaks[0].breakId,
  bankName: 'main',
  day: '2026-01-05',
}
const names = ['before', 'after', 'skip', 'from', 'to', 'month']
const marks = [
  ...['abc', '1.5', '1e30', '9'.repeat(14), '0000-01-01', '0000-01', '2026-02-31', '9999-12-31', '9999-12'],
  `${'9'.repeat(15)}.x`,
  `${'9'.repeat(15)}-T1`,
]
const inPaths = ['abc', '0000-01-01']

function* addresses(paths: readonly string[]): Generator<string> {
  for (const path of paths) {
    const whole = path.replace(/:(\w+)/g, (_, name: string) => things[name] ?? 'x')
    for (const mark of marks)
      yield `${whole}?${new URLSearchParams(Object.fromEntries(names.map((name) => [name, mark])))}`
    if (path.includes(':')) for (const mark of inPaths) yield path.replace(/:\w+/g, mark)
  }
}

const pagesOf = (routes: readonly { readonly path: string }[]) =>
  routes.flatMap((route) => ('act' in route ? [] : [route.path]))

async function visitAll(client: Pick<ConsoleClient, 'get'>, paths: readonly string[]): Promise<void> {
  const failed: string[] = []
  for (const address of addresses(paths)) {
    const { status } = await client.get(address)
    if (status >= 500 || status === 429) failed.push(`${status} ${address}`)
  }
  assert.deepEqual(failed, [])
}

test('the console', async () => {
  const admin = new ConsoleClient(gateway)
  await admin.signIn()
  await visitAll(admin, pagesOf(consoleRoutes(catalog)))
})

test('the portal', async () => {
  const { client } = await memberOf(gateway, merchantId, 'owner')
  const paths = pagesOf(portalRoutes(catalog)).map((path) => portalPrefix + path)
  await visitAll(client, paths)
})

test('the wallet', async () => {
  const { client } = await consumerOf(gateway, { minor: 2_500n })
  await visitAll(
    client,
    pagesOf(walletRoutes).map((path) => walletPrefix + path),
  )
})

test('the admin API, in queries and paths', async () => {
  const failed: string[] = []
  for (const route of apiRoutes.filter(({ method }) => method === 'GET')) {
    const fields = Object.entries((route.query?.properties ?? {}) as Record<string, Bounds>)
    const calls = [
      ...fields.flatMap(([name, { minimum, maximum }]) =>
        [...marks, minimum, maximum].map((mark) => ({ params: things, query: { [name]: String(mark) } })),
      ),
      ...inPaths.map((mark) => ({
        params: Object.fromEntries(Object.keys(route.params?.properties ?? {}).map((name) => [name, mark])),
      })),
    ]
    for (const call of calls) {
      // Each token has a rate.
      clock.advance(1_000)
      const { status } = await api.call(route.name, call)
      if (status >= 500 || status === 429) failed.push(`${status} ${route.name} ${JSON.stringify(call)}`)
    }
  }
  assert.deepEqual(failed, [])
})

interface Bounds {
  readonly minimum?: number
  readonly maximum?: number
}

test('a day that is none is refused at its field, by every adapter', async () => {
  const account = { account: 'bank:main', currency: 'EUR' }
  const { walletId = '', runId = '' } = things
  const booked = { reference: 'B1', reason }
  const money = { amount: '1', currency: 'EUR', reason }
  for (const day of ['0000-01-01', '0026-11-17', '2026-02-31', '2026-13-01', '9999-12-31'])
    for (const [id, field, request] of [
      ['reconcile.close-day', 'day', { body: { ...account, day, reason } }],
      ['bill.download', 'day', { params: { merchantId, day } }],
      ['bill.list', 'before', { params: { merchantId }, query: { before: day } }],
      ['payout-run.paid', 'valueDate', { params: { runId }, body: { ...booked, valueDate: day } }],
      ['wallet.top-up', 'valueDate', { params: { walletId }, body: { ...money, valueDate: day } }],
    ] as const) {
      clock.advance(1_000)
      const { code, data, msg } = await api.call(id, request)
      assert.deepEqual([code, data.field], [40001, field], `${id} ${day}: ${msg}`)
    }
  for (const month of ['0000-01', '0026-11', '2026-13', '9999-12']) {
    const { code, data } = await api.call('reconcile.days', { query: { ...account, month } })
    assert.deepEqual([code, data.field], [40001, 'month'], month)
  }
  for (const date of ['0000-01-01', '2026-02-31']) {
    const { code, data } = await merchant.call('service.bill.get', { date })
    assert.deepEqual([code, data.field], [40001, 'date'], date)
  }
  const admin = new ConsoleClient(gateway)
  await admin.signIn()
  const fields = { ...account, day: '2026-02-31', reason }
  const told = await admin.told('/reconciliation/days/close', fields, { on: '/reconciliation/days' })
  assert.match(told, /Day must be a calendar day, such as 2026-11-16/)
})
