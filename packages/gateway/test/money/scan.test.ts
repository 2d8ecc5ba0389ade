// Codes that a wallet shows in a store, against the real database: each pays once, for one merchant, within a minute, and
// ends with its session. A lost response ends in one payment or none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, toDecimalText } from '@tillgate/protocol'
import fc from 'fast-check'
import type { Merchant } from '../../src/core/merchants/rules/merchant.ts'
import { payCodeLifeMs, unconfirmedScans, wrongCodes } from '../../src/core/orders/scans/rules/pay-code.ts'
import { freshDatabase } from '../support/database.ts'
import { type HeldClock, heldClock, type Money, openMoney } from '../support/money.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const config = { scanLimits: new Map([['USD', 500n]]) }
const money = openMoney(pool, { clock, config })
const [merchant, another] = [await money.addMerchant(), await money.addMerchant()]

/** A signed-in wallet that shows codes. */
async function openWallet(of: Money, minor: bigint) {
  const walletId = await of.addWallet(minor)
  const wallet = await of.wallets.findWallet(walletId)
  assert(wallet)
  const { walletSessions, showPayCode } = of.operations
  const token = await walletSessions.open(wallet, { address: '127.0.0.1', userAgent: 'test' })
  const session = await walletSessions.find(token ?? '')
  assert(session)
  return {
    walletId,
    session,
    async show() {
      const code = await showPayCode(session)
      assert(code)
      return code
    },
    signOut: () => walletSessions.end(walletId, session.sessionId),
  }
}

let numbers = 0

function scan(code: string, given: object = {}, by: Merchant = merchant) {
  const body = { code, orderNo: `scan-${++numbers}`, amount: '4.20', currency: 'USD', ...given }
  return money.operations.scanOrder(by, JSON.stringify(body))
}

async function failureOf(work: Promise<unknown>): Promise<{ code: number; message: string } | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    if (error instanceof Failure) return { code: error.code, message: error.message }
    throw error
  }
}

const codeOf = async (work: Promise<unknown>) => (await failureOf(work))?.code ?? 20000

test('a small amount is paid at once by either form of the code, with its callbacks', async () => {
  for (const form of ['token', 'digits'] as const) {
    const { walletId, show } = await openWallet(money, 1_000n)
    const shown = await show()
    const typed = form === 'digits' ? shown.digits.replaceAll(/(\d{4})/g, '$1 ') : shown.token
    const { paymentId, status } = await scan(typed, { callbackUrl: 'https://shop.example/callback' })
    assert.equal(status, 'confirming')
    await money.settle()
    const query = await money.queryOrder(merchant, JSON.stringify({ paymentId }))
    assert.deepEqual([query.paymentStatus, query.payAmount], ['success', 4.2])
    assert.equal(await money.balanceOf(walletId), 580n)
    const { rows } = await pool.query('select 1 from callbacks where payment_id = $1', [paymentId])
    assert.equal(rows.length, 2)
  }
})

test('a code is useless a second time, for another merchant, after a minute and after the sign-out, in one way', async () => {
  const { show, signOut } = await openWallet(money, 10_000n)
  const used = await show()
  await scan(used.token)
  const expired = await show()
  clock.advance(payCodeLifeMs - 1)
  const inTime = await show()
  clock.advance(1)
  const refusals = [
    await failureOf(scan(used.token)),
    await failureOf(scan(used.digits)),
    await failureOf(scan(used.token, {}, another)),
    await failureOf(scan(expired.token)),
    await failureOf(scan('AAAAAAAAAAAAAAAAAAAAAA')),
    await failureOf(scan('0000000000000000')),
  ]
  assert.equal(refusals[0]?.code, 40403)
  for (const refusal of refusals) assert.deepEqual(refusal, refusals[0])
  await signOut()
  assert.deepEqual(await failureOf(scan(inTime.token)), refusals[0])
})

test('a code that is shown until its last moment still pays then', async () => {
  const { show } = await openWallet(money, 1_000n)
  const { token } = await show()
  clock.advance(payCodeLifeMs - 1)
  assert.equal((await scan(token)).status, 'confirming')
})

test('of many tills that scan one code at once, one is paid', async () => {
  const { walletId, show } = await openWallet(money, 100_000n)
  const { token, digits } = await show()
  const codes = await Promise.all(
    Array.from({ length: 12 }, (_, till) =>
      codeOf(scan(till % 2 ? token : digits, {}, till % 3 ? merchant : another)),
    ),
  )
  await money.settle()
  assert.equal(codes.filter((code) => code === 20000).length, 1)
  assert.equal(await money.balanceOf(walletId), 99_580n)
})

test('a request that is repeated, at once or later, with this code or the next one, charges once', async () => {
  const { walletId, show } = await openWallet(money, 100_000n)
  const { token } = await show()
  const again = { orderNo: 'repeated' }
  const answers = await Promise.all(Array.from({ length: 6 }, () => scan(token, again)))
  const next = await show()
  answers.push(await scan(next.token, again), await scan('no code at all', again))
  assert.equal(new Set(answers.map(({ paymentId }) => paymentId)).size, 1)
  await money.settle()
  assert.equal(await money.balanceOf(walletId), 99_580n)
  assert.equal(await codeOf(scan(next.token, { ...again, amount: '4.30' })), 40900)
  assert.equal((await scan(next.token)).status, 'confirming', 'the next code was not used')
})

test('above the limit, in another currency, or without enough money, the order waits for this wallet', async () => {
  const { walletId, show } = await openWallet(money, 600n)
  for (const given of [{ amount: '5.01' }, { currency: 'JPY', amount: '1' }]) {
    const { token } = await show()
    const { status, paymentId } = await scan(token, given)
    assert.equal(status, 'pending')
    const waiting = await money.operations.listScanned(walletId)
    assert(waiting.some(({ order }) => order.paymentId === paymentId))
  }
  const poor = await openWallet(money, 100n)
  const { paymentId, checkoutUrl, status } = await scan((await poor.show()).token)
  assert.equal(status, 'pending')
  assert.match(checkoutUrl, new RegExp(`/checkout/${merchant.merchantId}/${paymentId}/`))
  const [waiting] = await money.operations.listScanned(poor.walletId)
  assert.equal(waiting?.order.paymentId, paymentId)
  assert(waiting && checkoutUrl.endsWith(waiting.path))
  assert.equal(await money.balanceOf(poor.walletId), 100n)
  clock.advance(5 * 60_000)
  assert.deepEqual(await money.operations.listScanned(poor.walletId), [])
})

test('after five payments by code, the owner confirms one, and then five more are paid at once', async () => {
  const { show, session } = await openWallet(money, 100_000n)
  const statuses = async (count: number) => {
    const seen = []
    for (let each = 0; each < count; each++) seen.push((await scan((await show()).token)).status)
    return seen
  }
  const paid = Array.from({ length: unconfirmedScans }, () => 'confirming')
  assert.deepEqual(await statuses(unconfirmedScans + 1), [...paid, 'pending'])
  await money.operations.confirmSession(session.sessionId)
  assert.deepEqual(await statuses(unconfirmedScans), paid)
})

test('wrong codes are limited for a merchant and for all, and right ones do not count', async () => {
  const limited = openMoney(pool, { clock, config })
  const guess = (by: Merchant, code = '0000000000000000') => {
    const body = { code, orderNo: `guess-${++numbers}`, amount: '1', currency: 'USD' }
    return codeOf(limited.operations.scanOrder(by, JSON.stringify(body)))
  }
  const { burst } = wrongCodes.perMerchant
  for (let tries = 0; tries < burst; tries++) assert.equal(await guess(merchant), 40403)
  const { show } = await openWallet(limited, 1_000n)
  assert.equal(await guess(merchant, (await show()).token), 42900)
  assert.equal(await guess(another, (await show()).token), 20000)
  const others = [another]
  while (others.length * burst < wrongCodes.ofAll.burst - burst) others.push(await limited.addMerchant())
  for (const other of others)
    for (let tries = 0; tries < burst; tries++) assert.equal(await guess(other), 40403)
  assert.equal(await guess(await limited.addMerchant()), 42900)
  clock.advance(60_000)
  assert.equal(await guess(merchant, (await show()).token), 20000)
})

test('the database stores no code', async () => {
  const { show } = await openWallet(money, 0n)
  const { token, digits } = await show()
  const { rows } = await pool.query<{ row: string }>('select c::text as row from pay_codes c')
  assert(rows.length > 0)
  for (const { row } of rows) for (const secret of [token, digits]) assert(!row.includes(secret))
})

const step = fc.oneof(
  { arbitrary: fc.constant({ kind: 'show' as const }), weight: 4 },
  {
    arbitrary: fc.record({
      kind: fc.constant('scan' as const),
      code: fc.nat(9),
      isTyped: fc.boolean(),
      till: fc.nat(1),
      number: fc.nat(5),
      minor: fc.constantFrom(100n, 500n, 501n),
      tills: fc.constantFrom(1, 1, 2),
    }),
    weight: 8,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 30_000, 59_999, 60_000),
    }),
    weight: 2,
  },
  { arbitrary: fc.constant({ kind: 'work' as const }), weight: 2 },
  { arbitrary: fc.constant({ kind: 'confirm' as const }), weight: 1 },
)

test('no sequence of shows, scans and waits uses a code twice, and every order is one that a code allowed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (taken) => {
      const held: HeldClock = heldClock(1_900_000_000_000)
      const parts = openMoney(pool, { clock: held, config })
      const tills = [await parts.addMerchant(), await parts.addMerchant()]
      const { walletId, show, session } = await openWallet(parts, 3_000n)
      const codes: { token: string; digits: string; endsAtMs: number; isUsed: boolean }[] = []
      const orders = new Map<string, { minor: bigint; code: number; paymentId: string }>()
      for (const each of taken) {
        if (each.kind === 'show') {
          // Which of two codes of one millisecond is older is not defined.
          held.advance(1)
          codes.push({ ...(await show()), endsAtMs: held.now() + payCodeLifeMs, isUsed: false })
        }
        if (each.kind === 'wait') held.advance(each.ms)
        if (each.kind === 'confirm') await parts.operations.confirmSession(session.sessionId)
        if (each.kind === 'work') {
          await parts.expireOrders()
          await parts.settle()
        }
        if (each.kind !== 'scan') continue
        const code = codes[each.code]
        const orderNo = `P${each.number}`
        const body = JSON.stringify({
          code: (each.isTyped ? code?.digits : code?.token) ?? 'x',
          orderNo,
          amount: toDecimalText(each.minor, 'USD'),
          currency: 'USD',
        })
        const by = Array.from({ length: each.tills }, (_, index) => (each.till + index) % 2)
        const alive = codes.filter(({ isUsed }) => !isUsed).slice(-2)
        const isRight = code !== undefined && alive.includes(code) && held.now() < code.endsAtMs
        const results = await Promise.all(
          by.map((till) =>
            parts.operations.scanOrder(tills[till] as Merchant, body).catch((error: unknown) => {
              if (error instanceof Failure) return error.code
              throw error
            }),
          ),
        )
        let uses = 0
        for (const [index, result] of results.entries()) {
          const key = `${by[index]} ${orderNo}`
          const earlier = orders.get(key)
          if (earlier) {
            if (earlier.minor === each.minor)
              assert.equal(typeof result === 'object' && result.paymentId, earlier.paymentId)
            else assert.equal(result, 40900)
          } else if (typeof result === 'object') {
            uses++
            orders.set(key, { minor: each.minor, code: each.code, paymentId: result.paymentId })
          } else assert.equal(result, 40403)
        }
        const mayUse = by.some(
          (till, index) => typeof results[index] === 'object' || !orders.has(`${till} ${orderNo}`),
        )
        assert(uses <= (isRight ? 1 : 0), 'a code was used without being right, or twice')
        if (isRight && mayUse && uses === 0)
          assert(
            by.every((till) => orders.has(`${till} ${orderNo}`)),
            'a right code was refused',
          )
        if (uses > 0 && code) code.isUsed = true
      }
      held.advance(10 * 60_000)
      await parts.settle()
      await parts.expireOrders()
      let paidMinor = 0n
      for (const till of tills)
        for (const [key, { minor, paymentId }] of orders) {
          if (tills[Number(key[0])] !== till) continue
          const { paymentStatus } = await parts.queryOrder(till, JSON.stringify({ paymentId }))
          assert(paymentStatus === 'success' || paymentStatus === 'timeout')
          if (paymentStatus === 'success') paidMinor += minor
          assert(minor <= 500n || paymentStatus === 'timeout', 'a payment above the limit was not confirmed')
        }
      assert.equal(await parts.balanceOf(walletId), 3_000n - paidMinor)
      assert.deepEqual(parts.troubles, [])
    }),
    { numRuns: Number(process.env['SCAN_RUNS'] ?? 60) },
  )
  assert.deepEqual(await money.verify(), [])
})
