// A forgotten PIN: an operator gives out a one-time code, and whoever has it and the login sets a new PIN, once, in time,
// and within few tries.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { makeAuditEntry } from '../../src/core/audit/audit-entries.ts'
import { pinResetLimits } from '../../src/core/wallets/rules/pin-reset.ts'
import { makeChangePin } from '../../src/identity/consumers/change-pin.ts'
import type { Queryable } from '../../src/platform/database/pool.ts'
import { makeVault } from '../../src/platform/runtime/secrets/vault.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { testOperations } from '../support/operations.ts'
import { testVault } from '../support/started.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const { operations, stores } = testOperations(pool, { clock })
const { wallets: manage } = actingAs(operations, 'cli:ann')
const home = '192.0.2.1'
const otherVault = makeVault(Buffer.alloc(32, 9))
let logins = 0

async function newWallet() {
  const given = { login: `c${++logins}@x.org`, name: 'Ann', pin: '246810', reason: 'new' }
  return (await manage.addWallet(given)).wallet
}

const reset = (given: { login: string; code: string; pin?: string; address?: string }) =>
  operations.resetPin({ pin: '135790', address: home, ...given })
const signIn = async (login: string, pin: string) =>
  (await operations.authenticateWallet({ login, pin, address: home })).kind
const wrongOne = (code: string) => code.replace(/^./, (digit) => String((Number(digit) + 1) % 10))

test('the code sets a new PIN once, however it is grouped; until then the old one works', async () => {
  const { login, walletId } = await newWallet()
  const { code = '', expiresAtMs } = await manage.resetPin(login, 'asked at the desk')
  assert.match(code, /^\d{8}$/)
  assert.equal(expiresAtMs, clock.now() + 15 * 60_000)
  assert.equal(await signIn(login, '246810'), 'signed_in')
  const changed = await reset({ login, code: ` ${code.slice(0, 4)} ${code.slice(4, 6)}-${code.slice(6)}` })
  assert(changed.kind === 'changed')
  assert.equal(changed.wallet.walletId, walletId)
  assert.equal(await signIn(login, '246810'), 'wrong')
  assert.equal(await signIn(login, '135790'), 'signed_in')
  assert.deepEqual(await reset({ login, code, pin: '482951' }), { kind: 'wrong' })
  assert.equal(await signIn(login, '135790'), 'signed_in')
  const { rows } = await pool.query<{ what: string }>(
    "select act || ' by ' || actor as what from audit where subject = $1 and act <> 'wallet.add' order by acted_at, audit_id",
    [walletId],
  )
  assert.deepEqual(rows.map(({ what }) => what).toSorted(), [
    'wallet.new-pin by consumer@192.0.2.1',
    'wallet.reset-pin by cli:ann',
  ])
})

test('a change that was proven before a reset or a lock changes nothing, tells nobody and says so', async () => {
  const meanwhile = {
    async reset(login: string) {
      const { code = '' } = await manage.resetPin(login, 'test')
      assert.equal((await reset({ login, code })).kind, 'changed')
    },
    lock: (login: string) => manage.lockWallet(login, 'test'),
  }
  for (const [name, act] of Object.entries(meanwhile)) {
    const { login, walletId } = await newWallet()
    const wallet = await stores.wallets.findWallet(walletId)
    assert(wallet)
    const changePin = makeChangePin({
      wallets: stores.wallets,
      vault: testVault,
      clock,
      random: randomBytes,
      notifyOwner: { pinChanged: () => [] },
      async authenticateWallet(given) {
        const proven = await operations.authenticateWallet(given)
        await act(login)
        return proven
      },
    })
    const proof = { wallet, pin: '246810', address: home, device: undefined }
    const given = { newPin: '864209', tokenHash: Buffer.alloc(32) }
    assert.deepEqual(await changePin(proof, given), { kind: 'access_ended' }, name)
    await manage.unlockWallet(login, 'test')
    assert.equal(await signIn(login, '864209'), 'wrong', name)
    assert.equal(await signIn(login, name === 'reset' ? '135790' : '246810'), 'signed_in', name)
    const { rows } = await pool.query(
      "select 1 from audit where subject = $1 and act = 'wallet.change-pin'",
      [walletId],
    )
    assert.equal(rows.length, 0, name)
  }
})

test('the owner’s own change of PIN ends a code; one that is refused leaves it', async () => {
  const { login, walletId } = await newWallet()
  const { code = '' } = await manage.resetPin(login, 'somebody called')
  const wallet = await stores.wallets.findWallet(walletId)
  assert(wallet)
  const proof = { wallet, pin: '246810', address: home, device: undefined }
  const change = (accessVersion: number) =>
    stores.wallets.setPin(
      { walletId, accessVersion, sealedPin: Buffer.from('x'), tokenHash: Buffer.alloc(32) },
      makeAuditEntry({ clock, random: randomBytes }, { actor: 'test' }, 'wallet.change-pin', walletId),
    )
  assert.equal(await change(wallet.accessVersion - 1), false)
  const { rowCount } = await pool.query('select from pin_resets where wallet_id = $1', [walletId])
  assert.equal(rowCount, 1)
  const given = { newPin: '864209', tokenHash: Buffer.alloc(32) }
  assert.equal((await operations.changePin(proof, given)).kind, 'signed_in')
  assert.deepEqual(await reset({ login, code }), { kind: 'wrong' })
  assert.equal(await signIn(login, '864209'), 'signed_in')
})

test('a code is good for a quarter of an hour, to the millisecond', async () => {
  const { login } = await newWallet()
  const late = await manage.resetPin(login, 'x')
  clock.advance(pinResetLimits.lifeMs)
  assert.deepEqual(await reset({ login, code: late.code ?? '' }), { kind: 'wrong' })
  const inTime = await manage.resetPin(login, 'x')
  clock.advance(pinResetLimits.lifeMs - 1)
  assert.equal((await reset({ login, code: inTime.code ?? '' })).kind, 'changed')
})

test('after five wrong codes the right one is worth nothing, wherever they came from', async () => {
  const { login } = await newWallet()
  const { code = '' } = await manage.resetPin(login, 'x')
  const tries = Array.from({ length: pinResetLimits.tries }, (_, index) =>
    reset({ login, code: wrongOne(code), address: `192.0.2.${10 + index}` }),
  )
  for (const tried of await Promise.all(tries)) assert.deepEqual(tried, { kind: 'wrong' })
  assert.deepEqual(await reset({ login, code, address: '192.0.2.99' }), { kind: 'wrong' })
  const again = await manage.resetPin(login, 'x')
  assert.equal((await reset({ login, code: again.code ?? '' })).kind, 'changed')
})

test('a new code takes the place of the one before', async () => {
  const { login } = await newWallet()
  const first = await manage.resetPin(login, 'x')
  const second = await manage.resetPin(login, 'x')
  assert.deepEqual(await reset({ login, code: first.code ?? '' }), { kind: 'wrong' })
  assert.equal((await reset({ login, code: second.code ?? '' })).kind, 'changed')
})

test('of many who use one code at the same moment one sets the PIN', async () => {
  const { login } = await newWallet()
  const { code = '' } = await manage.resetPin(login, 'x')
  const pins = ['482951', '482953', '482957', '482959']
  const outcomes = await Promise.all(
    pins.map((pin, index) => reset({ login, code, pin, address: `192.0.2.${20 + index}` })),
  )
  assert.equal(outcomes.filter(({ kind }) => kind === 'changed').length, 1)
  const right = pins[outcomes.findIndex(({ kind }) => kind === 'changed')] ?? ''
  assert.equal(await signIn(login, right), 'signed_in')
})

test('a login that nobody has, one without a code, and another wallet’s code are answered alike', async () => {
  const [mine, other] = [await newWallet(), await newWallet()]
  const { code = '' } = await manage.resetPin(mine.login, 'x')
  for (const login of ['nobody@x.org', 'no login at all', other.login])
    assert.deepEqual(await reset({ login, code }), { kind: 'wrong' })
})

test('too many wrong tries of the PIN are forgotten with the code, and a wallet that an operator locked stays so', async () => {
  const { login, walletId } = await newWallet()
  for (let tries = 0; tries < 5; tries++) await signIn(login, '000000')
  assert.equal(await signIn(login, '246810'), 'locked')
  const { code = '' } = await manage.resetPin(login, 'x')
  assert.equal((await reset({ login, code })).kind, 'changed')
  await manage.lockWallet(walletId, 'stolen')
  const locked = await manage.resetPin(login, 'x')
  assert.deepEqual(await reset({ login, code: locked.code ?? '' }), { kind: 'locked', untilMs: undefined })
})

test('what cannot be a PIN is refused before a try is counted', async () => {
  const { login } = await newWallet()
  const { code = '' } = await manage.resetPin(login, 'x')
  for (const pin of ['', '12345', '1234567890123', 'abcdef'])
    await assert.rejects(reset({ login, code, pin }), { field: 'pin' })
  const { rows } = await pool.query('select tries from pin_resets')
  assert.ok(rows.every(({ tries }) => tries === 0))
  assert.equal((await reset({ login, code })).kind, 'changed')
})

test('the database holds no code: neither the digits nor what they could be tried against without the master key', async () => {
  const { login, walletId } = await newWallet()
  const { code = '' } = await manage.resetPin(login, 'x')
  const { rows } = await pool.query<{ row: string }>(
    'select t::text as row from pin_resets t where wallet_id = $1',
    [walletId],
  )
  assert.ok(rows.length === 1 && !rows[0]?.row.includes(code))
  const { operations: foreign } = testOperations(pool, { clock, vault: otherVault })
  assert.deepEqual(await foreign.resetPin({ login, code, pin: '135790', address: home }), { kind: 'wrong' })
})

test('whoever’s login it is, with a code or without, a try asks the same in one transaction', async () => {
  const counted: string[] = []
  const counting = (whose: string) => {
    const ask = (target: Queryable): Queryable => ({
      query: (statement, values) => {
        counted.push(`${whose} ${typeof statement === 'string' ? statement : statement.text}`)
        return target.query(statement, values)
      },
    })
    return ask
  }
  const watched = testOperations(
    {
      ...pool,
      ...counting('alone')(pool),
      transaction: (work, options) =>
        pool.transaction((transaction) => work(counting('together')(transaction)), options),
    },
    { clock },
  )
  const asked = async (login: string) => {
    counted.length = 0
    const outcome = await watched.operations.resetPin({
      login,
      code: '00000000',
      pin: '135790',
      address: home,
    })
    assert.deepEqual(outcome, { kind: 'wrong' })
    // Which row has the count of all addresses: the wallet's own, or one of the login's hash.
    return counted.map((each) => (/update wallet(s|_tries)/.test(each) ? 'together counts' : each))
  }
  const [without, withCode] = [await newWallet(), await newWallet()]
  await manage.resetPin(withCode.login, 'x')
  const nobody = await asked('nobody@x.org')
  assert.ok(nobody.length > 0 && nobody.every((each) => each.startsWith('together')), nobody.join('\n'))
  assert.deepEqual(await asked(without.login), nobody)
  assert.deepEqual(await asked(withCode.login), nobody)
})
