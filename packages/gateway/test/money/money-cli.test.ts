// The operator's commands about money, as an operator calls them: exit codes and words.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/platform/runtime/clock.ts'
import { databaseOf, runCommand } from '../support/command.ts'
import { startTestGateway } from '../support/gateway.ts'
import { openMoney } from '../support/money.ts'
import { giveBankAccount } from '../support/payouts.ts'

const live = { MODE: 'live', TRUSTED_PROXIES: 'none', PUBLIC_URL: 'https://pay.example' }
const gateway = await startTestGateway({ environment: live })
const { pool } = gateway
const money = openMoney(pool, { clock: systemClock })
const tillgate = (...args: string[]) => runCommand({ ...live, ...databaseOf(gateway) }, args)

test('an operator adds a wallet, tops it up, sees it, locks it; each act is in the audit with who and why', async () => {
  const login = 'ann@wallet.example'
  const added = await tillgate(
    'wallet',
    'add',
    '--login',
    login,
    '--name',
    'Ann',
    '--reason',
    'new',
    '--json',
  )
  assert.equal(added.code, 0, added.err)
  const {
    wallet: { walletId },
    pin,
  } = JSON.parse(added.out)
  assert.match(pin, /^[0-9]{6}$/)
  const topUp = ['wallet', 'top-up', login, '--currency', 'usd', '--reason', 'cash', '--amount']
  const toppedUp = await tillgate(...topUp, '12.50')
  assert.match(toppedUp.out, /12\.50 USD were added to the wallet/)
  const tooFine = await tillgate(...topUp, '12.505')
  assert.deepEqual([tooFine.code, tooFine.out], [1, ''])
  assert.match(tooFine.err, /2 decimal places/)
  assert.equal((await tillgate('wallet', 'lock', login, '--reason', 'lost')).code, 0)
  const shown = JSON.parse((await tillgate('wallet', 'show', login, '--json')).out)
  assert.deepEqual(
    [shown.status, shown.balances],
    ['locked', [{ currency: 'USD', available: '12.50', held: '0.00' }]],
  )
  const { rows } = await pool.query(
    'select act, actor, reason from audit where subject = $1 order by acted_at',
    [walletId],
  )
  assert.deepEqual(
    rows.map((row) => [row['act'], String(row['actor']).startsWith('cli:'), row['reason']]),
    [
      ['wallet.add', true, 'new'],
      ['wallet.top-up', true, 'cash'],
      ['wallet.lock', true, 'lost'],
    ],
  )
  assert.equal((await tillgate('wallet', 'lock', login)).code, 1, 'an act needs its reason')
})

test('a merchant is paid out what it has and no more, and its statement and the ledger agree', async () => {
  const merchant = await money.addMerchant()
  const order = await money.addOrder(merchant)
  await money.submitPayment({ ...order, walletId: await money.addWallet(1_000n) })
  while ((await money.orders.findOrder(order))?.status !== 'success') await money.settle()
  const payout = [
    'merchant',
    'payout',
    merchant.merchantId,
    '--currency',
    'USD',
    '--reason',
    'week',
    '--amount',
  ]
  const tooMuch = await tillgate(...payout, '10.01')
  assert.deepEqual([tooMuch.code, tooMuch.out], [1, ''])
  assert.match((await tillgate(...payout, '1')).err, /no usable bank account for USD/)
  await giveBankAccount(pool, merchant.merchantId)
  assert.match((await tillgate(...payout, '10.01')).err, /10\.00 USD/)
  assert.match((await tillgate(...payout, '9.99')).out, /0\.01 USD remain/)
  const [made] = await money.payouts.listPayouts({ merchantId: merchant.merchantId }, { limit: 1 })
  const told = (...args: string[]) => tillgate('payout', ...args, '--reason', 'week')
  assert.match(
    (await tillgate('payout-run', 'send', made?.runId ?? '', '--reason', 'week')).out,
    /The run is sent/,
  )
  assert.match(
    (await tillgate('payout-run', 'export-csv', made?.runId ?? '')).out,
    /^payoutId,.*\r\nT\w+,.*,USD,9\.99,/s,
  )
  const booked = ['--reference', 'B1', '--value-date', '2026-11-16']
  const paid = await told('paid', merchant.merchantId, made?.payoutId ?? '', ...booked)
  assert.match(paid.out, /is paid\./)
  const statement = await tillgate('merchant', 'statement', merchant.merchantId, '--since', '2020-01-01')
  const lines = statement.out.trimEnd().split('\r\n').slice(1)
  assert.deepEqual(
    [lines[0], lines.length, lines.at(-1)],
    [',opening,,,,,,USD,0.00', 4, ',closing,,,,,,USD,0.01'],
  )
  assert.equal((await tillgate('merchant', 'statement', 'none')).code, 1)
})

test('ledger verify says clean and exits 0, and exits 1 with the reason when it is not', async () => {
  const clean = await tillgate('ledger', 'verify')
  assert.equal(clean.code, 0, clean.out)
  assert.match(clean.out, /^The ledger is clean/)
  await pool.query("update accounts set credits_posted = credits_posted + 1 where owner_kind = 'wallet'")
  const wrong = await tillgate('ledger', 'verify')
  assert.equal(wrong.code, 1)
  assert.match(wrong.out, /NOT clean[\s\S]*sum of its transfers/)
})
