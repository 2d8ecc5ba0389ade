// The operator's bank accounts: what comes from outside and goes there names one, with reference and value date; and the
// funding account of older releases goes on as the main one.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Movement } from '../../src/core/ledger/store/movements.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'
import { testOperations } from '../support/operations.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const money = openMoney(pool, { clock })
const { stores, operations } = testOperations(pool, { clock })
const { reconciliation, banks } = actingAs(operations, 'test')
const iban = 'DE89370400440532013000'
const none = { iban: undefined, lines: undefined, bic: undefined, currency: undefined }

interface OutsideRow {
  debit_account: string
  outside_reference: string
  value_date: string
  transfer_id: string
}

async function outsideOf(walletId: string) {
  const { rows } = await pool.query<OutsideRow>(
    `select debit_account, outside_reference, value_date::text, transfer_id from transfers
      where credit_account like 'wallet:' || $1 || ':%' order by made_at`,
    [walletId],
  )
  return rows
}

test('what names no bank account goes through the main one, under its own number and today’s date', async () => {
  const [row] = await outsideOf(await money.addWallet(500n))
  assert.equal(row?.debit_account, 'bank:main:USD')
  assert.equal(row.outside_reference, row.transfer_id)
  assert.equal(row.value_date, new Date(clock.now()).toISOString().slice(0, 10))
})

test('what moved is listed for the wallet and for the bank, each with its sign, page by page', async () => {
  const walletId = await money.addWallet(300n)
  await money.addWallet(200n)
  const { listMovements } = stores
  const of = async (ownerKind: 'wallet' | 'bank', ownerId: string, limit: number) => {
    const listed: Movement[] = []
    for (;;) {
      const page = await listMovements({ ownerKind, ownerId }, { before: listed.at(-1), limit })
      listed.push(...page)
      if (page.length < limit) return listed
    }
  }
  const [toppedUp] = await outsideOf(walletId)
  assert.deepEqual(
    (await of('wallet', walletId, 1)).map(({ amountMinor, transferId, otherAccountId }) => [
      ...[amountMinor, transferId, otherAccountId],
    ]),
    [[300n, toppedUp?.transfer_id, 'bank:main:USD']],
  )
  const { rows } = await pool.query<{ transfer_id: string }>(
    `select transfer_id from transfers where debit_account = 'bank:main:USD'
      order by made_at desc, transfer_id collate "C" desc`,
  )
  const listed = await of('bank', 'main', 2)
  assert.deepEqual(
    listed.map(({ transferId }) => transferId),
    rows.map((row) => row.transfer_id),
  )
  assert(listed.every(({ amountMinor }) => amountMinor > 0n))
})

test('a movement bears the bank account, the reference and the value date that it was given', async () => {
  await banks.addBank({ ...none, bankName: 'euro', currency: 'EUR', holder: 'Shop Ltd', iban }, 'new')
  const walletId = await money.addWallet()
  const outside = { bankName: 'euro', reference: 'RF18 5390', valueDate: '2026-11-13' }
  await money.funds.topUp([{ walletId, currency: 'EUR', amountMinor: 700n }], {
    subject: walletId,
    reason: 'paid in',
    outside,
  })
  const [row] = await outsideOf(walletId)
  assert.deepEqual(
    [row?.debit_account, row?.outside_reference, row?.value_date],
    ['bank:euro:EUR', 'RF18 5390', '2026-11-13'],
  )
  const standings = await reconciliation.listStandings()
  assert.deepEqual(
    standings
      .filter(({ bankName }) => bankName === 'euro')
      .map(({ currency, expectedMinor, statement }) => [currency, expectedMinor, statement]),
    [['EUR', 700n, undefined]],
  )
  assert.deepEqual(await money.verify(), [])
})

test('money moves through no bank account that is unknown, closed, or of another currency', async () => {
  const walletId = await money.addWallet()
  const topUp = (bankName: string, currency = 'USD') =>
    money.funds.topUp([{ walletId, currency, amountMinor: 1n }], {
      subject: walletId,
      reason: 'test',
      outside: { bankName },
    })
  await banks.addBank({ ...none, bankName: 'old', holder: 'Shop Ltd', lines: ['Account 1'] }, 'new')
  await topUp('old')
  await banks.closeBank('old', 'moved')
  for (const [doing, words] of [
    [() => topUp('old'), /old is closed/],
    [() => topUp('nowhere'), /Bank account nowhere does not exist/],
    [() => topUp('euro', 'USD'), /euro holds EUR, not USD/],
  ] as const)
    await assert.rejects(doing(), (error: Error & { field?: string }) => {
      assert.match(error.message, words)
      return error.field === 'bank'
    })
  assert.equal(await money.balanceOf(walletId), 1n)
  assert.deepEqual(await money.verify(), [])
})

test('what was done is answered as done when it is sent again, also when its bank account was closed since', async () => {
  await banks.addBank({ ...none, bankName: 'past', holder: 'Shop Ltd', lines: ['Account 4'] }, 'new')
  const walletId = await money.addWallet()
  const outside = { bankName: 'past' }
  const [topUpId, withdrawalId] = [randomUUID(), randomUUID()]
  const topUp = (idempotencyKey: string) =>
    money.funds.topUp([{ walletId, currency: 'USD', amountMinor: 500n }], {
      ...{ subject: walletId, reason: 'test', outside, idempotencyKey },
    })
  const withdraw = (idempotencyKey: string) =>
    actingAs(operations, 'test').corrections.correct(
      { kind: 'withdraw', walletId, currency: 'USD', amountMinor: 200n, outside },
      'test',
      { idempotencyKey },
    )
  await topUp(topUpId)
  await withdraw(withdrawalId)
  await banks.closeBank('past', 'moved')
  await topUp(topUpId)
  assert.equal(await withdraw(withdrawalId), withdrawalId)
  await assert.rejects(topUp(randomUUID()), /past is closed/)
  await assert.rejects(withdraw(randomUUID()), /past is closed/)
  assert.equal(await money.balanceOf(walletId), 300n)
  assert.deepEqual(await money.verify(), [])
})

test('closing waits for whoever moves money through it, and what comes after is refused', async () => {
  await banks.addBank({ ...none, bankName: 'race', holder: 'Shop Ltd', lines: ['Account 2'] }, 'new')
  const walletId = await money.addWallet()
  const given = { subject: walletId, reason: 'test', outside: { bankName: 'race' } }
  const topUps = Array.from({ length: 8 }, () =>
    money.funds.topUp([{ walletId, currency: 'USD', amountMinor: 1n }], given).then(
      () => 1n,
      () => 0n,
    ),
  )
  await banks.closeBank('race', 'race')
  const done = (await Promise.all(topUps)).reduce((sum, one) => sum + one, 0n)
  assert.equal(await money.balanceOf(walletId), done)
  const { rows } = await pool.query(
    `select from transfers t join bank_accounts b on b.bank_name = 'race'
      where t.debit_account like 'bank:race:%' and t.made_at > b.closed_at`,
  )
  assert.equal(rows.length, 0)
})

test('a bank account is added once, changed as a whole, and the main one stays open', async () => {
  const given = { ...none, bankName: 'twice', holder: 'Shop Ltd', iban }
  await banks.addBank(given, 'new')
  await assert.rejects(banks.addBank(given, 'again'), /already/)
  await assert.rejects(banks.addBank({ ...given, bankName: 'bare', iban: undefined }, 'x'), /Enter the IBAN/)
  await assert.rejects(banks.addBank({ ...given, bankName: 'both', lines: ['1'] }, 'x'), /not both/)
  await assert.rejects(banks.addBank({ ...given, bankName: 'bic', bic: 'COBA' }, 'x'), /8 or 11/)
  const changed = await banks.changeBank(
    'twice',
    { ...none, holder: 'New Ltd', lines: ['Account 3'] },
    'sold',
  )
  assert.deepEqual([changed.holder, changed.iban, changed.lines], ['New Ltd', undefined, ['Account 3']])
  await assert.rejects(banks.closeBank('main', 'x'), /cannot be closed/)
  await banks.closeBank('twice', 'x')
  await assert.rejects(banks.closeBank('twice', 'x'), /is closed/)
  await assert.rejects(banks.changeBank('twice', { ...none, holder: 'X' }, 'x'), /is closed/)
  await assert.rejects(banks.showBank('nobody'), /Bank account nobody does not exist/)
  const { rows } = await pool.query("select reason from audit where act = 'bank.change'")
  assert.deepEqual(rows, [{ reason: `Shop Ltd, ${iban} -> New Ltd, Account 3: sold` }])
})

test('the tables refuse a movement at a bank without reference or value date, and these on any other', async () => {
  const refused = [
    "update transfers set outside_reference = null where kind = 'top_up'",
    "update transfers set value_date = null where kind = 'top_up'",
    "update accounts set owner_kind = 'funding', account_id = 'funding:main:' || currency where owner_kind = 'bank'",
  ]
  for (const statement of refused) await assert.rejects(pool.query(statement), { code: '23514' }, statement)
})
