import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { makeAuditEntry } from '../../src/core/audit/audit-entries.ts'
import type { NewEmail } from '../../src/core/emails/rules/email.ts'
import { loginsByAddress, pinLockLimits, sourceKeptMs } from '../../src/core/wallets/rules/pin-lock.ts'
import type { KnownDevice } from '../../src/core/wallets/rules/wallet.ts'
import { makeClosingStore } from '../../src/identity/consumers/store/closing.ts'
import { makePinResetStore } from '../../src/identity/consumers/store/pin-resets.ts'
import { makeVault } from '../../src/platform/runtime/secrets/vault.ts'
import { actingAs } from '../support/acting.ts'
import { untilBlocked } from '../support/blocked.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { testOperations } from '../support/operations.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const { wallets: manage } = actingAs(testOperations(pool, { clock }).operations, 'cli:ann')
// As many processes.
const processes = Array.from(
  { length: 3 },
  () => testOperations(pool, { clock }).operations.authenticateWallet,
)
const [authenticate] = processes as [(typeof processes)[number]]
const home = '192.0.2.1'
const signIn = (given: { login: string; pin: string; address?: string; device?: KnownDevice }) =>
  authenticate({ address: home, ...given })
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const { source: sourceLimit, wallet: walletLimit } = pinLockLimits
let logins = 0

async function newWallet(pin = '246810') {
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
  const { login, walletId } = await newWallet('246810')
  const right = await signIn({ login: ` ${login.toUpperCase()} `, pin: '246810' })
  assert.deepEqual([right.kind, right.kind === 'signed_in' && right.wallet.walletId], ['signed_in', walletId])
  const wrong = (triesLeft: number) => ({ kind: 'wrong', triesLeft, lockedUntilMs: undefined })
  assert.deepEqual(await signIn({ login, pin: '246811' }), wrong(4))
  assert.deepEqual(await signIn({ login, pin: '' }), wrong(3))
})

test('a login that nobody has is answered like a wrong PIN', async () => {
  for (const login of ['nobody@x.org', '+4915199999999'])
    for (const triesLeft of [4, 3, 2, 1])
      assert.deepEqual(await signIn({ login, pin: '246810' }), {
        kind: 'wrong',
        triesLeft,
        lockedUntilMs: undefined,
      })
  assert.deepEqual(await signIn({ login: 'no login at all', pin: '246810' }), { kind: 'wrong' })
})

test('wrong tries lock an address out for longer each time, also with the right PIN, to the millisecond', async () => {
  const { login } = await newWallet()
  for (let i = 1; i < 5; i++) assert.equal((await signIn({ login, pin: '000000' })).kind, 'wrong')
  for (const lockedForMs of [30_000, 5 * minuteMs, 30 * minuteMs, 4 * 60 * minuteMs, dayMs, dayMs]) {
    assert.equal((await signIn({ login, pin: '000000' })).kind, 'wrong')
    const locked = { kind: 'locked', untilMs: clock.now() + lockedForMs }
    assert.deepEqual(await signIn({ login, pin: '246810' }), locked)
    clock.advance(lockedForMs - 1)
    assert.deepEqual(await signIn({ login, pin: '246810' }), locked)
    clock.advance(1)
  }
  assert.equal((await signIn({ login, pin: '246810' })).kind, 'signed_in')
})

test('a login that nobody has locks the address out like any other', async () => {
  const [nobody, somebody] = ['nobody-yet@x.org', (await newWallet()).login]
  for (let i = 0; i < 7; i++)
    assert.deepEqual(
      await signIn({ login: nobody, pin: '000000' }),
      await signIn({ login: somebody, pin: '000000' }),
    )
})

test('the owner elsewhere is not locked out by one address, however long that one tries', async () => {
  const { login } = await newWallet()
  for (let day = 0; day < 30; day++) {
    for (let i = 0; i < 12; i++) await signIn({ login, pin: '000000', address: '198.51.100.7' })
    clock.advance(dayMs)
  }
  assert.equal((await signIn({ login, pin: '246810', address: '203.0.113.5' })).kind, 'signed_in')
})

test('wrong tries of many addresses lock the wallet for strangers, and not for a device of its owner', async () => {
  const { login, walletId, accessVersion } = await newWallet()
  const device = { deviceId: 'a phone', walletId, accessVersion }
  for (let i = 0; i < walletLimit.free; i++)
    assert.equal((await signIn({ login, pin: '000000', address: `198.51.100.${i}` })).kind, 'wrong')
  const locked = { kind: 'locked', untilMs: clock.now() + 30_000 }
  assert.deepEqual(await signIn({ login, pin: '246810', address: '203.0.113.5' }), locked)
  assert.equal((await signIn({ login, pin: '246810', device })).kind, 'signed_in')
  assert.deepEqual(
    await signIn({ login, pin: '246810', address: '203.0.113.5' }),
    locked,
    'its owner’s sign-in gives strangers no further tries',
  )
  const none = {
    'of another wallet': { ...device, walletId: (await newWallet()).walletId },
    'from before all access was ended': { ...device, accessVersion: accessVersion - 1 },
    'of a browser in which no PIN was typed': { ...device, deviceId: undefined },
  }
  for (const [which, each] of Object.entries(none))
    assert.deepEqual(await signIn({ login, pin: '246810', device: each }), locked, which)
  for (let i = 0; i < sourceLimit.free; i++)
    assert.equal((await signIn({ login, pin: '000000', device })).kind, 'wrong')
  assert.equal((await signIn({ login, pin: '246810', device })).kind, 'locked', 'by its own tries')
})

test('wrong tries of many addresses lock a login that nobody has like a wallet, and are forgotten like its', async () => {
  const somebody = (await newWallet()).login
  const tryBoth = async (address: string) => {
    const [ofNobody, ofSomebody] = [
      await signIn({ login: 'nobody-anywhere@x.org', pin: '000000', address }),
      await signIn({ login: somebody, pin: '000000', address }),
    ]
    assert.deepEqual(ofNobody, ofSomebody, address)
    return ofNobody.kind
  }
  for (let i = 0; i < walletLimit.free; i++)
    assert.equal(await tryBoth(`198.51.100.${Math.floor(i / 4)}`), 'wrong')
  assert.equal(await tryBoth('203.0.113.6'), 'locked')
  clock.advance(30_000)
  assert.equal(await tryBoth('203.0.113.6'), 'wrong')
  assert.equal(await tryBoth('203.0.113.7'), 'locked')
  clock.advance(5 * minuteMs + walletLimit.forgottenAfterMs)
  assert.equal(await tryBoth('203.0.113.7'), 'wrong')
  assert.equal(await tryBoth('203.0.113.8'), 'wrong')
})

test('an address that tries many logins waits an hour; a right PIN takes its login off the list', async () => {
  const address = '198.51.100.99'
  const owned = await newWallet()
  await signIn({ login: owned.login, pin: '000000', address })
  assert.equal((await signIn({ login: owned.login, pin: '246810', address })).kind, 'signed_in')
  for (let i = 0; i < loginsByAddress.most; i++)
    assert.equal((await signIn({ login: `spray-${i}@x.org`, pin: '123456', address })).kind, 'wrong')
  const locked = { kind: 'locked', untilMs: clock.now() + loginsByAddress.withinMs }
  assert.deepEqual(await signIn({ login: owned.login, pin: '246810', address }), locked)
  assert.equal((await signIn({ login: owned.login, pin: '246810' })).kind, 'signed_in', 'from elsewhere')
  const { walletId, accessVersion } = owned
  const device = { deviceId: 'a laptop', walletId, accessVersion }
  assert.equal((await signIn({ login: owned.login, pin: '246810', address, device })).kind, 'signed_in')
  clock.advance(loginsByAddress.withinMs)
  assert.equal((await signIn({ login: owned.login, pin: '246810', address })).kind, 'signed_in')
})

test('an address that tries many logins at once over several processes: as many are looked at as may be', async () => {
  const address = '198.51.100.98'
  const answers = await Promise.all(
    Array.from({ length: 3 * loginsByAddress.most }, (_, i) =>
      (processes[i % processes.length] ?? authenticate)({
        login: `at-once-${i}@x.org`,
        pin: '123456',
        address,
      }),
    ),
  )
  assert.equal(answers.filter(({ kind }) => kind === 'wrong').length, loginsByAddress.most)
})

test('the right PIN gives all five tries back', async () => {
  const { login } = await newWallet()
  for (const pin of ['0', '1', '2', '3', '246810', '0', '1', '2', '3']) {
    assert.equal((await signIn({ login, pin })).kind, pin === '246810' ? 'signed_in' : 'wrong')
  }
  assert.equal((await signIn({ login, pin: '246810' })).kind, 'signed_in')
})

for (const [who, loginOf] of [
  ['a wallet', async () => (await newWallet()).login],
  ['nobody', async () => 'nobody-at-once@x.org'],
] as const) {
  test(`30 tries at once over several processes at the login of ${who}: five are looked at`, async () => {
    const login = await loginOf()
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        (processes[i % processes.length] ?? authenticate)({ login, pin: `${100_000 + i}`, address: home }),
      ),
    )
    assert.equal(answers.filter(({ kind }) => kind === 'wrong').length, sourceLimit.free)
    assert.equal(answers.filter(({ kind }) => kind === 'locked').length, 30 - sourceLimit.free)
  })
}

test('what is forgotten leaves the table', async () => {
  const { login } = await newWallet()
  await signIn({ login, pin: '000000' })
  clock.advance(sourceKeptMs)
  await signIn({ login: (await newWallet()).login, pin: '246810' })
  assert.equal((await pool.query('select from wallet_tries')).rowCount, 0)
})

test('an operator locks and unlocks, and unlocking ends the lock of wrong tries too', async () => {
  const { login, walletId } = await newWallet()
  clock.advance(1)
  await manage.lockWallet(login, 'stolen phone')
  assert.equal((await signIn({ login, pin: '000000' })).kind, 'wrong', 'told to nobody else')
  assert.deepEqual(await signIn({ login, pin: '246810' }), { kind: 'locked', untilMs: undefined })
  clock.advance(1)
  await manage.unlockWallet(walletId, 'phone is back')
  for (let i = 0; i < sourceLimit.free; i++) await signIn({ login, pin: '000000' })
  assert.equal((await signIn({ login, pin: '246810' })).kind, 'locked')
  clock.advance(1)
  await manage.unlockWallet(login, 'called us')
  assert.equal((await signIn({ login, pin: '246810' })).kind, 'signed_in')
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

test('a name or a login with hidden characters, or a name that is too long, makes no wallet', async () => {
  for (const [login, name] of [
    ['bidi@x.org', 'An\u202en'],
    ['esc@x.org', 'An\u001bn'],
    ['long@x.org', 'n'.repeat(257)],
    ['a\u202enn@x.org', 'Ann'],
    ['a\u200bnn@x.org', 'Ann'],
    ['a\u001bnn@x.org', 'Ann'],
  ] as const)
    await assert.rejects(manage.addWallet({ login, name, reason: 'new' }), { code: 40001 }, login)
})

test('a login has one wallet', async () => {
  const { login } = await newWallet()
  await assert.rejects(manage.addWallet({ login: login.toUpperCase(), name: 'Bob', reason: 'new' }), {
    code: 40900,
  })
})

test('a PIN that is made here works, and rests as nothing but a sealed hash that takes 32 MiB', async () => {
  const vault = makeVault(randomBytes(32))
  const { operations } = testOperations(pool, { clock, vault })
  const { wallet, pin = '' } = await actingAs(operations, 'cli:ann').wallets.addWallet({
    login: '+4915112345678',
    name: 'Bob',
    reason: 'new',
  })
  assert.match(pin, /^[0-9]{6}$/)
  const { kind } = await operations.authenticateWallet({ login: wallet.login, pin, address: home })
  assert.equal(kind, 'signed_in')
  const { rows } = await pool.query<{ sealed_pin: Buffer }>(
    'select sealed_pin from wallets where wallet_id = $1',
    [wallet.walletId],
  )
  const hash = vault.open(rows[0]?.sealed_pin ?? Buffer.of(), `PIN of wallet ${wallet.walletId}`)
  assert.match(hash.toString(), /^scrypt\$32768\$8\$1\$/)
})

test('no code for a new PIN is made or mailed that is asked for while the wallet is closed', async () => {
  const { walletId, login } = await newWallet()
  const nowMs = clock.now()
  const email: NewEmail = {
    emailId: randomUUID(),
    kind: 'pin-code',
    merchantId: undefined,
    recipient: login,
    language: 'en',
    parameters: {},
    sealedLink: undefined,
    onceKey: undefined,
    createdAtMs: nowMs,
    giveUpAtMs: nowMs + 1,
  }
  const both = await pool.transaction(async (transaction) => {
    await transaction.query('lock table emails in share mode')
    const wallet = { walletId, accessVersion: 0, paidMinor: 0n }
    const closed = { ...wallet, sealedPin: randomBytes(64), name: 'closed', endTopUp: () => undefined }
    const closing = makeClosingStore(pool).close(
      closed,
      makeAuditEntry({ clock, random: randomBytes }, { actor: 'test' }, 'wallet.close', walletId),
    )
    await untilBlocked(pool, 1, '%delete from emails%')
    const mailing = makePinResetStore(pool).mail({
      walletId,
      codeHash: 'of a code',
      nowMs,
      emails: [email],
    })
    await untilBlocked(pool, 2, '%')
    return { mailing, closing }
  })
  await both.mailing
  assert.equal((await both.closing).closing, 'closed')
  const { rows } = await pool.query(
    'select code_hash from pin_resets where wallet_id = $1 union all select recipient from emails where recipient = $2',
    [walletId, login],
  )
  assert.deepEqual(rows, [])
})
