// Authorize, capture, release, refund and expiry in random sequences, against a simple model: money is never captured
// beyond the authorization, every hold ends, and the books balance.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, toDecimalText } from '@tillgate/protocol'
import fc from 'fast-check'
import { priceLeadMs } from '../../src/core/orders/fees/rules/price.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'

const terms = {
  railId: undefined,
  currency: 'USD',
  terms: { fixedMinor: 3n, basisPoints: 250, leastMinor: undefined, mostMinor: undefined, returnsFee: true },
}
const day = 24 * 60 * 60_000
const { pool } = await freshDatabase()

interface Model {
  readonly authorizedMinor: bigint
  readonly captures: Map<string, { minor: bigint; asked: bigint | undefined; isFinal: boolean }>
  status: 'pending' | 'confirming' | 'success' | 'failed' | 'timeout'
  heldUntilMs: number | undefined
  expiresAtMs: number
  refundedMinor: bigint
}

const step = fc.oneof(
  { arbitrary: fc.constant({ kind: 'pay' as const }), weight: 3 },
  {
    arbitrary: fc.record({
      kind: fc.constant('capture' as const),
      number: fc.nat(4),
      minor: fc.option(fc.bigInt(1n, 60n), { nil: undefined }),
      isFinal: fc.boolean(),
    }),
    weight: 6,
  },
  { arbitrary: fc.constant({ kind: 'release' as const }), weight: 1 },
  { arbitrary: fc.record({ kind: fc.constant('refund' as const), minor: fc.bigInt(1n, 60n) }), weight: 2 },
  {
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(60_000, 300_000, day, 7 * day - 1, 7 * day),
    }),
    weight: 2,
  },
  { arbitrary: fc.constant({ kind: 'work' as const }), weight: 4 },
)

/** Half of the sequences begin with an authorized order, because few others reach one. */
const steps = fc
  .record({ isAuthorized: fc.boolean(), rest: fc.array(step, { maxLength: 30 }) })
  .map(({ isAuthorized, rest }) =>
    isAuthorized ? [{ kind: 'pay' as const }, { kind: 'work' as const }, ...rest] : rest,
  )

async function codeOf(work: Promise<unknown>): Promise<number> {
  try {
    await work
    return 20000
  } catch (error) {
    if (error instanceof Failure) return error.code
    throw error
  }
}

test('no sequence captures more than was authorized or leaves a hold, and the books balance', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.bigInt(1n, 100n), async (taken, amountMinor) => {
      const clock = heldClock()
      const money = openMoney(pool, { clock })
      await pool.query('update authorizations set due_at = 9000000000000')
      const [merchant, walletId] = [await money.addMerchant(), await money.addWallet(1_000n)]
      await actingAs(money.operations, 'test').prices.setPrice(
        { ...terms, merchantId: merchant.merchantId, fromMs: undefined },
        'test',
      )
      clock.advance(priceLeadMs)
      const order = await money.addOrder(merchant, { amountMinor, isManual: true })
      const { paymentId, merchantId } = order
      const model: Model = {
        authorizedMinor: amountMinor,
        captures: new Map(),
        status: 'pending',
        heldUntilMs: undefined,
        expiresAtMs: order.expiresAtMs,
        refundedMinor: 0n,
      }
      for (const each of taken) {
        switch (each.kind) {
          case 'pay': {
            const { kind } = await money.submitPayment({ merchantId, paymentId, walletId })
            pass(model, clock.now())
            assert.equal(kind === 'submitted', model.status === 'pending')
            if (kind === 'submitted') model.status = 'confirming'
            break
          }
          case 'capture': {
            const asked = { referCaptureNo: `C${each.number}`, isFinal: each.isFinal, minor: each.minor }
            const code = await codeOf(
              money.captureOrder(
                merchant,
                JSON.stringify({
                  paymentId,
                  referCaptureNo: asked.referCaptureNo,
                  ...(each.minor && { amount: toDecimalText(each.minor, 'USD') }),
                  ...(each.isFinal && { final: true }),
                }),
              ),
            )
            pass(model, clock.now())
            assert.equal(code, capture(model, asked, clock.now()))
            break
          }
          case 'release': {
            const code = await codeOf(money.releaseOrder(merchant, JSON.stringify({ paymentId })))
            pass(model, clock.now())
            assert.equal(code, model.heldUntilMs === undefined ? 40901 : 20000)
            if (model.status === 'confirming' && code === 20000) end(model)
            break
          }
          case 'refund': {
            const body = {
              paymentId,
              referRefundNo: crypto.randomUUID(),
              refundAmount: toDecimalText(each.minor, 'USD'),
            }
            const code = await codeOf(money.refundOrder(merchant, JSON.stringify(body)))
            const leftMinor = capturedBy(model) - model.refundedMinor
            assert.equal(code, model.status !== 'success' ? 40901 : each.minor > leftMinor ? 40902 : 20000)
            if (code !== 20000) break
            await money.settle()
            // The fee may leave the merchant with too little for the refund.
            const { status } = await money.queryOrder(merchant, JSON.stringify({ paymentId }))
            if (status === 'refund_success') model.refundedMinor += each.minor
            break
          }
          case 'wait':
            clock.advance(each.ms)
            break
          case 'work':
            await money.expireOrders()
            await money.settle()
            pass(model, clock.now())
            if (model.status === 'confirming' && model.heldUntilMs === undefined)
              model.heldUntilMs = clock.now() + 7 * day
            else if (model.status === 'confirming' && clock.now() >= (model.heldUntilMs ?? 0)) end(model)
        }
      }
      clock.advance(14 * day)
      await money.settle()
      clock.advance(14 * day)
      await money.expireOrders()
      await money.settle()
      if (model.status === 'pending') model.status = 'timeout'
      if (model.status === 'confirming') end(model)
      assert.deepEqual(money.troubles, [])
      const answer = await money.queryOrder(merchant, JSON.stringify({ paymentId }))
      assert.deepEqual(
        [answer.paymentStatus, Math.round(Number(answer.authorization?.capturedAmount) * 100)],
        [model.status, Number(capturedBy(model))],
      )
      assert.equal(await money.balanceOf(walletId), 1_000n - capturedBy(model) + model.refundedMinor)
      const { rows } = await pool.query('select from authorizations where merchant_id = $1', [merchantId])
      assert.equal(rows.length, 0, 'a hold did not end')
    }),
    { numRuns: Number(process.env['CAPTURE_RUNS'] ?? 100) },
  )
  assert.deepEqual(await openMoney(pool, { clock: heldClock() }).verify(), [])
})

/** An order that nobody agreed to pay expires by itself. */
function pass(model: Model, nowMs: number): void {
  if (model.status === 'pending' && nowMs >= model.expiresAtMs) model.status = 'timeout'
}

function capturedBy({ captures }: Model): bigint {
  return [...captures.values()].reduce((sum, { minor }) => sum + minor, 0n)
}

function end(model: Model): void {
  model.status = capturedBy(model) > 0n ? 'success' : 'failed'
}

function capture(
  model: Model,
  { referCaptureNo, minor, isFinal }: { referCaptureNo: string; minor: bigint | undefined; isFinal: boolean },
  nowMs: number,
): number {
  const leftMinor = model.authorizedMinor - capturedBy(model)
  const earlier = model.captures.get(referCaptureNo)
  if (earlier) {
    const isSame = earlier.asked === minor && earlier.isFinal === isFinal
    // What took all that remained may be repeated by that amount, without it, and with `final`.
    const isLast = [...model.captures.keys()].at(-1) === referCaptureNo
    const isAll = isLast && leftMinor === 0n
    const isSameAmount = minor === undefined ? isAll : minor === earlier.minor
    const isFinalAllowed = !isFinal || (isLast && model.status === 'success')
    return isSame || (isSameAmount && isFinalAllowed) ? 20000 : 40900
  }
  if (model.status !== 'confirming' || model.heldUntilMs === undefined || nowMs >= model.heldUntilMs)
    return 40901
  const takenMinor = minor ?? leftMinor
  if (takenMinor > leftMinor) return 40903
  model.captures.set(referCaptureNo, { minor: takenMinor, asked: minor, isFinal })
  if (isFinal || takenMinor === leftMinor) end(model)
  return 20000
}
