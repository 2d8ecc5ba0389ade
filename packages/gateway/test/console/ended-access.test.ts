// Access that is ended while somebody proves the old password: what was proven before opens no session, makes no token
// and changes neither password nor second step.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reachingAll } from '../../src/core/authority/context.ts'
import { totpCode } from '../../src/identity/accounts/totp.ts'
import type { Operator } from '../../src/identity/operators/rules/operator.ts'
import { actingAs } from '../support/acting.ts'
import { fromBase32 } from '../support/base32.ts'
import { untilBlocked } from '../support/blocked.ts'
import { TestClock } from '../support/clock.ts'
import { freshDatabase } from '../support/database.ts'
import { testOperations } from '../support/operations.ts'

const clock = new TestClock()
const { pool } = await freshDatabase()
const { operations } = testOperations(pool, { clock })
const { operatorAccounts, apiTokens } = operations
const { authenticate, sessions: operatorSessions, secondStep, changePassword } = operatorAccounts
const { operators } = actingAs(operations, 'test')
const from = { actor: 'console:thief@192.0.2.7', address: '192.0.2.7' }
const password = 'the password that was stolen'

const reset = (login: string) =>
  operators.resetPassword({ login, password: 'a password of the admin', reason: 'stolen' })
const endings = {
  'a reset': reset,
  'disabling and enabling': async (login: string) => {
    await operators.disableOperator(login, 'stolen')
    await operators.enableOperator(login, 'back')
  },
  'signing out everywhere': (login: string) => operatorSessions.endAll(login, 'test'),
}

let added = 0
async function newOperator(): Promise<string> {
  const { login } = await operators.addOperator({ login: `eve-${++added}`, role: 'operator', password })
  return login
}

async function prove(login: string): Promise<Operator> {
  const proof = await authenticate({ login, password })
  assert(proof.kind === 'right')
  return proof.account
}

/** The admin gives another password when the old one was just proven. */
const resetAfterwards: typeof authenticate = async (given) => {
  const proof = await authenticate(given)
  await reset(given.login)
  return proof
}

for (const [name, end] of Object.entries(endings)) {
  test(`${name} while a sign-in is under way leaves no session`, async () => {
    const login = await newOperator()
    const proven = await prove(login)
    await end(login)
    assert.equal(await operatorSessions.open(proven, from), undefined)
    assert.deepEqual(await operatorSessions.list(login), [])
    const { rowCount } = await pool.query(
      "select from audit where act = 'operator.sign-in' and subject = $1",
      [login],
    )
    assert.equal(rowCount, 0)
  })
}

test('a reset while the operator changes the password is not undone by that', async () => {
  const login = await newOperator()
  await operatorSessions.open(await prove(login), from)
  const [session] = await operatorSessions.list(login)
  assert(session)
  const newPassword = 'the password of a thief'
  const change = { login, session: session.tokenHash, oldPassword: password, newPassword }
  await assert.rejects(changePassword({ actor: 'test' }, change, resetAfterwards), /no longer has access/)
  const thief = await authenticate({ login, password: newPassword })
  assert.equal(thief.kind, 'wrong')
})

test('a reset while a second step is set up or switched off keeps it as it was', async () => {
  const login = await newOperator()
  const own = { ...(await prove(login)), actor: 'test' }
  const { secret } = await secondStep.begin(own)
  await reset(login)
  const code = () => totpCode(fromBase32(secret), clock.now())
  await assert.rejects(secondStep.begin(own), /no longer has access/)
  await assert.rejects(secondStep.confirm(own, code()), /no longer has access/)
  assert.equal((await secondStep.stateOf(login)).kind, 'begun')
  const accessVersion = own.accessVersion + 1
  await secondStep.confirm({ ...own, accessVersion }, code())
  clock.advance(30_000)
  await assert.rejects(secondStep.switchOff(own, code()), /no longer has access/)
  assert.equal((await secondStep.stateOf(login)).kind, 'on')
})

test('a reset while a token is made leaves none, just proven or just before it is written', async () => {
  const login = await newOperator()
  const given = { login, name: 'mine', scopes: ['orders:read'], days: 1 }
  const proven = apiTokens.addToken(reachingAll('test'), given, async () => {
    await prove(login)
    await reset(login)
  })
  await assert.rejects(proven, /no longer has access/)
  const refused = await pool.transaction(async (transaction) => {
    // As a reset does before it is through: the token waits for it.
    await transaction.query('update operators set access_version = access_version + 1 where login = $1', [
      login,
    ])
    const rejected = assert.rejects(apiTokens.addToken(reachingAll('test'), given), /no longer has access/)
    await untilBlocked(pool, 1, '%from operators%for no key update')
    // In a list: a promise by itself would be waited for before the transaction ends.
    return [rejected]
  })
  await Promise.all(refused)
  assert.deepEqual(await apiTokens.listTokens(reachingAll('test'), login), [])
})

test('a session begins while access lasts, and after it was ended by proving anew', async () => {
  const login = await newOperator()
  assert(await operatorSessions.open(await prove(login), from))
  await operatorSessions.endAll(login, 'test')
  assert(await operatorSessions.open(await prove(login), from))
  assert.equal((await operatorSessions.list(login)).length, 1)
})
