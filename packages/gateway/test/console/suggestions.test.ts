// Fields that name an existing thing offer what there is: by a list that the page itself brings, so that it works without
// the script, and only on pages whose forms ask for it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noExtras } from '../../src/actions/rails/rail-actions.ts'
import { actingAs } from '../support/acting.ts'
import { ConsoleClient, signedInAs } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'

const gateway = await startTestGateway()
const { banks, rails, operators } = actingAs(gateway.operations, 'test')
const { merchantId } = await gateway.addMerchant({ name: 'Tea & <Cake>' })
const none = { holder: 'Shop Ltd', lines: undefined, bic: undefined }
await banks.addBank({ ...none, bankName: 'euro', currency: 'EUR', iban: 'DE89370400440532013000' }, 'test')
await banks.addBank({ ...none, bankName: 'old', currency: 'EUR', iban: 'DE75512108001245126199' }, 'test')
await banks.closeBank('old', 'test')
await operators.addOperator({ login: 'night', role: 'operator', password: 'a password of night' })
const account = { holder: 'Shop Ltd', iban: 'DE89370400440532013000', bic: undefined, lines: [] }
await rails.addTransferRail('transfer', { ...noExtras, name: 'Transfer', currencies: ['EUR'], account }, 'x')
const admin = new ConsoleClient(gateway)
await admin.signIn()

async function listsOf(path: string, client = admin): Promise<Record<string, string>> {
  const { text } = await client.get(path)
  const lists = [...text.matchAll(/<datalist id="suggested-(\w+)">(.*?)<\/datalist>/g)]
  for (const [, kind] of lists) assert.match(text, new RegExp(` list="suggested-${kind}"`))
  const named = new Set([...text.matchAll(/ list="suggested-(\w+)"/g)].map(([, kind]) => kind))
  assert.equal(lists.length, named.size, `${path}: every field that names a list has it, once`)
  return Object.fromEntries(lists.map(([, kind = '', options = '']) => [kind, options]))
}

test('a merchant is offered by name, wherever one is asked for', async () => {
  for (const path of ['/orders', '/callbacks', '/audit', '/money/fees', '/money/corrections']) {
    const { merchants = '' } = await listsOf(path)
    assert.match(merchants, new RegExp(`<option value="${merchantId}">Tea &amp; &lt;Cake&gt;</option>`), path)
  }
})

test('bank accounts that are open, rails and currencies are offered where prices and payouts name them', async () => {
  const { rails: offered, currencies } = await listsOf('/money/fees')
  assert.match(offered ?? '', /value="wallet".*value="transfer">Transfer</)
  assert.match(currencies ?? '', /<option value="EUR">Euro<\/option>/)
  const { banks: named = '' } = await listsOf(`/merchants/${merchantId}/payouts`)
  assert.match(named, /<option value="euro">Shop Ltd<\/option>/)
  assert.doesNotMatch(named, /value="old"/)
})

test('reconciliation offers accounts of banks and rails', async () => {
  const { accounts = '' } = await listsOf('/reconciliation/imports')
  assert.match(accounts, /value="bank:euro".*value="rail:transfer"/)
})

test('a viewer without forms gets the lists of filters alone, and a page without such fields none', async () => {
  const viewer = await signedInAs(gateway, 'viewer')
  assert.deepEqual(Object.keys(await listsOf('/orders', viewer)), ['merchants', 'currencies'])
  assert.deepEqual(await listsOf('/reconciliation/imports', viewer), {})
  assert.deepEqual(await listsOf('/system'), {})
})
