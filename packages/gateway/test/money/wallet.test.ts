import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { makeTreasuryStore } from '../../src/treasury/store/treasury.ts'
import { makeAuthenticateWallet } from '../../src/wallets/authenticate-wallet.ts'
import { makeManageWallets } from '../../src/wallets/manage-wallets.ts'
import { lockedForMs, maxTries } from '../../src/wallets/rules/wallet.ts'
import { makeWalletStore } from '../../src/wallets/store/wallets.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const wallets = makeWalletStore(pool)
const manage = makeManageWallets({
  wallets,
  treasury: makeTreasuryStore(pool),
  clock,
  random: randomBytes,
  actor: 'cli:ann',
})
// As many processes.
const signIns = Array.from({ length: 3 }, () =>
  makeAuthenticateWallet({ wallets: makeWalletStore(pool), clock }),
)
const [signIn] = signIns as [(typeof signIns)[number]]
let logins = 0

async function newWallet(pin = '2468') {
  const { wallet } = await manage.addWallet({ login: `c${++logins}@x.org`, name: 'Ann', pin, reason: 'new' })
  return wallet
}

async function acts(subject: string): Promise<string[]> {
  const { rows } = await pool.query<{ what: string }>(
    "select act || ' by ' || actor || ': ' || reason as what from audit where subject = $1 order by acted_at, audit_id",
    [subject],
  )
  return rows.map(({ what }) => what)
}

test('the right PIN signs in, by any spelling of the login; the wrong one does not', async () => {
  const { login, walletId } = await newWallet('2468')
  const right = await signIn({ login: ` ${login.toUpperCase()} `, pin: '2468' })
  assert.deepEqual([right.kind, right.kind === 'signed_in' && right.wallet.walletId], ['signed_in', walletId])
  assert.deepEqual(await signIn({ login, pin: '2469' }), { kind: 'wrong' })
  assert.deepEqual(await signIn({ login, pin: '' }), { kind: 'wrong' })
})

test('a login that nobody has is answered like a wrong PIN', async () => {
  for (const login of ['nobody@x.org', '+4915199999999', 'no login at all'])
    assert.deepEqual(await signIn({ login, pin: '2468' }), { kind: 'wrong' })
})

test('five wrong tries lock for 30 minutes to the millisecond, also for the right PIN; then all five are there again', async () => {
  const { login } = await newWallet()
  for (let i = 0; i < maxTries; i++) assert.equal((await signIn({ login, pin: '0000' })).kind, 'wrong')
  const locked = { kind: 'locked', untilMs: clock.now() + lockedForMs }
  assert.deepEqual(await signIn({ login, pin: '2468' }), locked)
  clock.advance(lockedForMs - 1)
  assert.deepEqual(await signIn({ login, pin: '2468' }), locked)
  clock.advance(1)
  for (let i = 1; i < maxTries; i++) assert.equal((await signIn({ login, pin: '0000' })).kind, 'wrong')
  assert.equal((await signIn({ login, pin: '2468' })).kind, 'signed_in')
})

test('the right PIN gives all five tries back', async () => {
  const { login } = await newWallet()
  for (const pin of ['0', '1', '2', '3', '2468', '0', '1', '2', '3']) {
    assert.equal((await signIn({ login, pin })).kind, pin === '2468' ? 'signed_in' : 'wrong')
  }
  assert.equal((await signIn({ login, pin: '2468' })).kind, 'signed_in')
})

test('30 tries at once over several processes: five are looked at, the others find it locked', async () => {
  const { login } = await newWallet()
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      (signIns[i % signIns.length] ?? signIn)({ login, pin: `${1000 + i}` }),
    ),
  )
  assert.equal(answers.filter(({ kind }) => kind === 'wrong').length, maxTries)
  assert.equal(answers.filter(({ kind }) => kind === 'locked').length, 30 - maxTries)
})

test('an operator locks and unlocks, and unlocking ends the lock of wrong tries too', async () => {
  const { login, walletId } = await newWallet()
  clock.advance(1)
  await manage.lockWallet(login, 'stolen phone')
  assert.deepEqual(await signIn({ login, pin: '2468' }), { kind: 'locked', untilMs: undefined })
  clock.advance(1)
  await manage.unlockWallet(walletId, 'phone is back')
  for (let i = 0; i < maxTries; i++) await signIn({ login, pin: '0000' })
  assert.equal((await signIn({ login, pin: '2468' })).kind, 'locked')
  clock.advance(1)
  await manage.unlockWallet(login, 'called us')
  assert.equal((await signIn({ login, pin: '2468' })).kind, 'signed_in')
  assert.deepEqual(await acts(walletId), [
    'wallet.add by cli:ann: new',
    'wallet.lock by cli:ann: stolen phone',
    'wallet.unlock by cli:ann: phone is back',
    'wallet.unlock by cli:ann: called us',
  ])
})

test('top-ups in several currencies are there at once, each with its entry in the audit', async () => {
  const { login, walletId } = await newWallet()
  await manage.topUp({ wallet: login, currency: 'USD', amountMinor: 1_050n, reason: 'cash' })
  await manage.topUp({ wallet: walletId, currency: 'JPY', amountMinor: 7n, reason: 'card' })
  await manage.topUp({ wallet: walletId, currency: 'USD', amountMinor: 1n, reason: 'cash' })
  const { balances } = await manage.showWallet(login)
  assert.deepEqual(
    balances.map(({ currency, creditsPostedMinor }) => [currency, creditsPostedMinor]),
    [
      ['JPY', 7n],
      ['USD', 1_051n],
    ],
  )
  assert.equal((await acts(walletId)).filter((act) => act.startsWith('wallet.top-up')).length, 3)
})

test('a login has one wallet', async () => {
  const { login } = await newWallet()
  await assert.rejects(manage.addWallet({ login: login.toUpperCase(), name: 'Bob', reason: 'new' }), {
    code: 40900,
  })
})

test('a PIN that is made here works, and rests as nothing but a hash', async () => {
  const { wallet, pin = '' } = await manage.addWallet({ login: '+4915112345678', name: 'Bob', reason: 'new' })
  assert.match(pin, /^[0-9]{6}$/)
  assert.equal((await signIn({ login: wallet.login, pin })).kind, 'signed_in')
  const { rows } = await pool.query<{ pin_hash: string }>(
    'select pin_hash from wallets where wallet_id = $1',
    [wallet.walletId],
  )
  assert.match(rows[0]?.pin_hash ?? '', /^scrypt\$32768\$8\$1\$/)
})
