// Reconciliation as an operator meets it: a file is chosen in the console, breaks are worked off, days are closed; and the same
// file on the command line. A second operator is asked where corrections want one.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { reachingAll } from '../../src/core/authority/context.ts'
import { actingAs } from '../support/acting.ts'
import { databaseOf, runCommand } from '../support/command.ts'
import { ConsoleClient, signedInAs } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'

const gateway = await startTestGateway({ environment: { APPROVAL_FOR: 'correction' } })
const { operations, pool } = gateway
const admin = new ConsoleClient(gateway)
await admin.signIn()
const folder = mkdtempSync(join(tmpdir(), 'statement-'))
after(() => rmSync(folder, { recursive: true }))
/** What the sandbox's test wallets were filled with, long before. */
const testWalletsMinor = 500_000_000_000n
const file = join(folder, 'statement.xml')
const text = camt053({
  iban: 'DE89370400440532013000',
  currency: 'EUR',
  version: 2,
  from: '2026-01-05',
  through: '2026-01-06',
  openingMinor: testWalletsMinor,
  lines: [
    {
      reference: 'B1',
      day: '2026-01-05',
      amountMinor: 500n,
      text: '<b>who knows</b>'.replaceAll('<', '&lt;'),
      partyIban: 'NL91ABNA0417164300',
    },
    { reference: 'B2', day: '2026-01-06', amountMinor: -35n, text: 'Account fee' },
  ],
})
writeFileSync(file, text)

const tillgate = (...args: string[]) => runCommand(databaseOf(gateway), args)

test('a dry run on the command line reads a file and changes nothing; an error names the line', async () => {
  const dry = await tillgate('reconcile', 'import', file, '--account', 'bank:main', '--dry-run', 'yes')
  assert.match(dry.out, /Preview: nothing was imported\. The file has 2 lines/, dry.err)
  const cut = join(folder, 'cut.xml')
  writeFileSync(cut, text.slice(0, 900))
  const broken = await tillgate('reconcile', 'import', cut, '--account', 'bank:main')
  assert.equal(broken.code, 1)
  assert.match(broken.err, /Line \d+: this is not well-formed XML/)
  assert.match((await tillgate('reconcile', 'import', '/nowhere')).err, /Cannot read/)
})

test('without a statement nothing is said to agree with the books', async () => {
  const { text } = await admin.get('/reconciliation')
  assert.match(text, /No statements yet/)
  assert.doesNotMatch(text, /agree/)
})

test('a statement is chosen in the console, and its lines say what came of them', async () => {
  const page = '/reconciliation/imports'
  const refused = await admin.upload(
    '/reconciliation/import',
    { reason: 'x', account: 'bank:none', from: page },
    text,
    page,
  )
  assert.equal(refused.status, 422)
  assert.match(refused.text, /Bank account or rail bank:none does not exist/)
  const sent = await admin.upload(
    '/reconciliation/import',
    { reason: 'x', account: 'bank:main', from: page },
    text,
    page,
  )
  assert.equal(sent.status, 303, sent.text)
  const shown = await admin.get(sent.location ?? '')
  assert.match(shown.text, /<h1[^>]*>Statement statement</)
  assert.match(shown.text, /2 new, 0 already imported/)
  assert.match(shown.text, /B1/)
  for (const { text: list } of [shown, await admin.get('/reconciliation')])
    for (const said of [/Ada Example/, /NL91 ABNA 0417 1643 00/, /&lt;b&gt;who knows/])
      assert.match(list, said)
  const repeated = await tillgate('reconcile', 'import', file, '--account', 'bank:main', '--reason', 'again')
  assert.match(repeated.out, /imported before, so no line was imported again/)
})

test('a viewer sees breaks and may do nothing; whoever is not signed in sends no file', async () => {
  const viewer = await signedInAs(gateway, 'viewer')
  assert.match((await viewer.get('/reconciliation')).text, /Missing in books/)
  assert.equal((await viewer.upload('/reconciliation/import', { reason: 'x' }, text, '/account')).status, 403)
  assert.equal(
    (
      await fetch(`${gateway.adminUrl}/reconciliation/import`, {
        method: 'POST',
        body: new FormData(),
        redirect: 'manual',
      })
    ).status,
    303,
  )
})

test('selected breaks are assigned at once, and one that cannot be accepted stays open', async () => {
  const { reconciliation } = actingAs(operations, 'test')
  const open = await reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 10 })
  const at = '/reconciliation/resolve-selected'
  const selected = open.map(({ breakId }) => breakId)
  assert.match(
    (await admin.get('/reconciliation?all=selected')).text,
    /name="break"[^>]* form="selection" checked/,
  )
  const on = `/reconciliation/selected?${selected.map((each) => `break=${each}`).join('&')}`
  const send = (fields: Record<string, string>) =>
    admin.told(at, { ...fields, break: selected, reason: 'the daily round' }, { on })
  const count = open.length
  assert.match(
    await send({ what: 'assign', owner: 'admin' }),
    new RegExp(`${count} of ${count} breaks changed`),
  )
  const assigned = await reconciliation.breaks.listBreaks(
    { status: 'open', owner: 'admin' },
    { skip: 0, limit: 10 },
  )
  assert.equal(assigned.length, count)
  assert.match(
    await send({ what: 'accept' }),
    new RegExp(`0 of ${count} breaks changed\\. The others cannot`),
  )
})

test('selected breaks of one kind are resolved at once, after their sum was shown, where a second operator says yes', async () => {
  const { reconciliation } = actingAs(operations, 'test')
  const open = await reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 10 })
  const selected = open.map(({ breakId }) => breakId)
  const on = `/reconciliation/selected?${selected.map((each) => `break=${each}`).join('&')}`
  const { text } = await admin.get(on)
  assert.match(text, new RegExp(`>${selected.length} breaks?<`))
  const [, total = ''] = /name="total" value="([^"]+)"/.exec(text) ?? []
  assert.match(text, new RegExp(`Unexplained in total</dt><dd><strong>${total}`))
  const fields = { break: selected, what: 'write_off', reason: 'lost' }
  const send = (more: object) =>
    admin.told('/reconciliation/resolve-selected', { ...fields, ...more }, { on })
  assert.match(await send({ total: '1.00 EUR' }), /have changed: their sum is now/)
  if (new Set(open.map(({ kind }) => kind)).size === 1)
    assert.match(await send({ total }), new RegExp(`${selected.length} wait for a second operator`))
  else assert.match(await send({ total }), /of several kinds/)
})

test('a break shows both sides, is written off after a second operator’s yes, and its days close with nothing unexplained', async () => {
  const { reconciliation } = actingAs(operations, 'test')
  const open = await reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 10 })
  const [first] = open
  assert(first)
  const page = `/reconciliation/breaks/${first.breakId}`
  const { text: shown } = await admin.get(page)
  assert.match(shown, /&lt;b&gt;who knows/)
  assert.match(shown, /The books contain no matching transfer/)
  assert.match(shown, /list="suggested-breaks".*<datalist id="suggested-breaks">/s)
  assert.match(shown, /<datalist id="suggested-operators"><option value="admin">admin<\/option>/)
  assert.match(shown, /for the order that you enter, or for the order in the line/)
  assert.match(
    await admin.told(`${page}/notes`, { note: 'asked the bank' }, { on: page }),
    /The note was added/,
  )
  for (const { breakId } of open) {
    const at = `/reconciliation/breaks/${breakId}`
    assert.match(
      await admin.told(`${at}/write-off`, { reason: 'lost' }, { on: at }),
      /second operator|waits/i,
    )
    assert.match(
      await admin.told(`${at}/accept`, { reason: 'x' }, { on: at }),
      /statement and the books differ/,
    )
  }
  await actingAs(operations, 'test').operators.addOperator({
    login: 'second',
    role: 'admin',
    password: 'a password of second',
  })
  const second = new ConsoleClient(gateway)
  await second.signIn('second', 'a password of second')
  const { rows } = await pool.query<{ approval_id: string }>(
    "select approval_id from approvals where status = 'waiting'",
  )
  const { text: waiting } = await second.get('/approvals')
  assert.match(waiting, /Statement line<.*EUR<\/span> at bank:main, 2026-01-0\d.*&lt;b&gt;who knows/s)
  // The line is evidence of the person who imported it alone.
  assert.match(waiting, /Imported by<\/dt>/)
  assert.match((await admin.get('/reconciliation')).text, /Waiting for approval/)
  assert.match((await admin.get(page)).text, /A resolution of this break waits for a second operator/)
  assert.match((await second.get('/approvals?all=selected')).text, /name="approval"[^>]* checked/)
  assert.doesNotMatch((await admin.get('/approvals')).text, /name="approval"|Approve selected/)
  const selected = { approval: rows.map(({ approval_id: id }) => id), reason: 'yes' }
  const approve = (client: ConsoleClient) =>
    client.told('/approvals/approve-selected', selected, { on: '/approvals' })
  assert.match(await approve(admin), new RegExp(`0 of ${rows.length} requests approved`))
  assert.match(await approve(second), new RegExp(`[1-9] of ${rows.length} requests approved`))
  await operations.reconcile()
  assert.deepEqual(await reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 10 }), [])
  const days = '/reconciliation/days'
  assert.match((await admin.get(days)).text, /2026-01-06/)
  const closing = { account: 'bank:main', currency: 'EUR', day: '2026-01-06', reason: 'month' }
  assert.match(
    await admin.told(`${days}/close`, closing, { on: days }),
    /Closed: 2 days\. Unexplained: 0\.00 EUR/,
  )
  assert.match(
    (await admin.get(`${days}.csv?account=bank%3Amain&currency=EUR&month=2026-01`)).text,
    /2026-01-06,5000000000\.00,5000000004\.65,4\.65,0\.00/,
  )
  assert.deepEqual((await operations.verifyLedger()).findings, [])
})

test('an import needs no reason, and the audit log keeps one that is given', async () => {
  const [page, path] = ['/reconciliation/imports', '/reconciliation/import']
  for (const [fileText, given] of [
    [text.replaceAll('2026-01-0', '2026-01-1'), {}],
    [text.replaceAll('2026-01-0', '2026-01-2'), { reason: 'sent again by the bank' }],
  ] as const) {
    const sent = await admin.upload(path, { ...given, account: 'bank:main', from: page }, fileText, page)
    assert.equal(sent.status, 303, sent.text)
  }
  const { rows } = await pool.query(
    "select reason from audit where act = 'reconcile.import' order by audit_id desc limit 2",
  )
  assert.deepEqual(rows, [{ reason: 'sent again by the bank' }, { reason: null }])
})

test('a second operator reads who saved the mapping of the file that a line is from', async () => {
  const columns = { separator: ';', decimalSign: '.', dayForm: 'YYYY-MM-DD', sign: 'as_written', reason: 'x' }
  const mapping = { mappingName: 'csv', account: 'bank:main', day: 'Day', currency: 'USD', references: 'Id' }
  const imports = '/reconciliation/imports'
  const saved = await admin.told(
    '/reconciliation/mappings',
    // The sender of a transfer writes the note.
    { ...columns, ...mapping, amount: 'Note', party: 'Name' },
    { on: imports },
  )
  assert.match(saved, /mapping csv was saved/)
  const second = new ConsoleClient(gateway)
  await second.signIn('second', 'a password of second')
  const csv = 'Id;Day;Amount;Name;Note\nX1;2026-01-30;1.00;M Allory;777.00\n'
  const sent = await second.upload('/reconciliation/import', { mapping: 'csv', from: imports }, csv, imports)
  assert.equal(sent.status, 303, sent.text)
  const { breaks } = operations.reconciliation
  const open = await breaks.listBreaks(reachingAll('test'), { status: 'open' }, { skip: 0, limit: 50 })
  const at = `/reconciliation/breaks/${open.find(({ amountMinor }) => amountMinor === 77_700n)?.breakId}`
  assert.match(await admin.told(`${at}/write-off`, { reason: 'x' }, { on: at }), /waits/)
  const { text: waiting } = await second.get('/approvals')
  assert.match(waiting, /Imported by<\/dt><dd>.{0,60}second<.*CSV mapping saved by<\/dt><dd>.{0,60}admin</s)
})
