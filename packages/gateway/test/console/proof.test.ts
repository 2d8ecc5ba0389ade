// Whoever finds a screen unlocked has a session and no password: what would outlive that session they cannot do.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { pair } from '../../../protocol/test/keys.ts'
import { catalog } from '../../src/actions/catalog.ts'
import { TestClock } from '../support/clock.ts'
import { ConsoleClient, type Fields } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'

const clock = new TestClock()
const gateway = await startTestGateway({ clock })
const { merchantId } = await gateway.addMerchant()
const reason = 'an unlocked screen'
const rotation = { endOthers: 'true', reason }
const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
const account = { holder: 'Mallory', iban: 'DE89370400440532013000' }
const rail = { name: 'My bank', currencies: 'EUR', reason }

const money = { amount: '1.00', currency: 'EUR', reason }
/** Every form that asks, by where it is sent, with all that is filled in but the proof. */
const forms: Readonly<Record<string, Fields>> = {
  // Who comes in.
  '/account/operators': { login: 'mallory', role: 'admin' },
  '/account/operators/:login/reset-password': { reason },
  '/account/operators/:login/reset-totp': { reason },
  '/account/operators/:login/enable': { reason },
  '/account/tokens': { name: 'nightly', days: '1', scopes: 'orders:read' },
  '/merchants/:merchantId/members': { email: 'mallory@evil.example', role: 'owner' },
  '/merchants/:merchantId/members/:login/role': { role: 'owner' },
  '/merchants/:merchantId/members/:login/recover': { reason },
  '/merchants/:merchantId/members/:login/reset-totp': { reason },
  '/applications/:applicationId/approve': {},
  // What another asked for.
  '/approvals/:approvalId/approve': { reason },
  // What is told once, for somebody to use.
  '/merchants': { name: 'Mallory' },
  '/merchants/:merchantId/keys/aes': { reason },
  '/merchants/:merchantId/keys/rsa': { publicKey, reason },
  '/merchants/:merchantId/endpoints': { url: 'https://evil.example', format: 'standard', reason },
  '/merchants/:merchantId/endpoints/:endpointId/secrets': rotation,
  '/merchants/:merchantId/change': { name: 'Tea House', callbackHosts: 'evil.example', reason },
  '/merchants/:merchantId/endpoints/:endpointId/events': { events: 'payment.order.success', reason },
  '/rails': { ...rail, railId: 'evil', url: 'http://evil.example' },
  '/rails/:railId/secrets': rotation,
  '/wallets/:walletId/reset-pin': { reason },
  // Where money goes.
  '/merchants/:merchantId/payouts/bank-account': { ...account, currency: 'EUR', reason },
  '/rails/transfer': { ...rail, ...account, railId: 'transfer' },
  '/rails/:railId/change': { ...rail, url: 'http://evil.example' },
  '/money/banks': { ...account, bankName: 'evil', reason },
  '/money/banks/:bankName/change': { ...account, reason },
  '/rails/:railId/account': { ...account, reason },
  // What is the operator’s own.
  '/money/banks/:bankName/opening-balance': { ...money, day: '2026-01-05' },
  '/money/banks/:bankName/deposits': money,
  '/money/banks/:bankName/withdrawals': money,
  '/money/banks/:bankName/fee-sweeps': money,
  '/reconciliation/breaks/:breakId/book-as': { as: 'bank_charge', reason },
  '/reconciliation/breaks/:breakId/return': { reason },
  '/approvals/approve-selected': { approval: randomUUID(), reason },
  '/reconciliation/resolve-selected': { break: randomUUID(), what: 'accept', reason },
}

function pathOf(pattern: string): string {
  const params: Readonly<Record<string, string>> = {
    merchantId,
    login: 'olga',
    railId: 'bank',
    bankName: 'main',
  }
  return pattern.replace(/:(\w+)/g, (_, name: string) => params[name] ?? randomUUID())
}

async function recorded(): Promise<number> {
  const { rowCount } = await gateway.pool.query("select from audit where act <> 'operator.sign-in'")
  return rowCount ?? 0
}

test('the forms that ask for a proof are these', () => {
  const asking = catalog.flatMap((act) => act.forms.filter((form) => form.needsConfirmation))
  assert.deepEqual(asking.map(({ path }) => path).sort(), Object.keys(forms).sort())
})

/**
 * A new wallet is empty, and unlocking gives access only if one operator repeats it. A second operator approves both if
 * the settings require one. Limits apply to the owner's own money. What is resumed, and the bank account that stays in
 * use after a change is stopped, was there before. A link brings the merchant money.
 */
const withoutOwnMoney = [
  'wallet.add',
  'wallet.unlock',
  'wallet.set-limits',
  'merchant.resume',
  'rail.resume',
  'endpoint.resume',
  'link.resume',
  'link.create',
  'merchant.stop-bank-account',
]

test('every form that gives access to money, or says where money goes, asks for a proof', () => {
  const words = ['names where money goes', 'gives access to money', 'makes a second operator']
  const withoutProof = catalog
    .filter(
      ({ name, effects }) =>
        !withoutOwnMoney.includes(name) && effects.some((effect) => words.includes(effect)),
    )
    .flatMap(({ name, forms: own, portal }) =>
      [...own, ...portal]
        .filter(({ needsConfirmation }) => !needsConfirmation)
        .map(({ path }) => `${name} at ${path}`),
    )
  assert.deepEqual(withoutProof, [])
})

for (const [pattern, fields] of Object.entries(forms))
  test(`${pattern} does nothing without the password`, async () => {
    // The allowance of the address comes back with time, and wrong tries count for the session.
    clock.advance(10_000)
    const admin = new ConsoleClient(gateway)
    await admin.signIn()
    const before = await recorded()
    // A page that is there, to show the refusal: some of the subjects are not.
    const filled = { ...fields, from: '/account', formId: randomUUID() }
    const path = pathOf(pattern)
    for (const password of ['', 'a guess'])
      assert.match(await admin.told(path, { ...filled, password }), /Your password is wrong/)
    assert.equal(await recorded(), before)
  })
