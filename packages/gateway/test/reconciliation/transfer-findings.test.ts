// What is to be looked at of money that came by bank transfer, too much, once more or too late, follows from what was booked:
// whoever dies between booking a line and writing its match down leaves the same to be found.
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import type { Order } from '../../src/core/orders/rules/order.ts'
import { creditorReference } from '../../src/finance/rails/rules/transfer-account.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { suspenseIsListed } from '../support/suspense.ts'
import { mortalPool, openTransferBank } from '../support/transfer-bank.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-16T10:00:00Z'))
let isDying = false
const mortal = mortalPool(pool, () => (isDying ? 'insert into matched_transfers' : undefined))
const bank = await openTransferBank(mortal, { clock })
const { operations, reconciliation } = bank

afterEach(async () => {
  assert.deepEqual((await operations.verifyLedger()).findings, [])
  await suspenseIsListed(pool, operations)
})

const say = ({ paymentId }: Order, ...amounts: readonly bigint[]) =>
  bank.say(creditorReference(paymentId), ...amounts)

const pay = async (...amounts: readonly (readonly bigint[])[]) => {
  const order = await bank.startedOrder()
  for (const together of amounts) await say(order, ...together)
  return order
}

/** An order of 1,000, and the last of what comes for it. */
const cases: Record<string, readonly [() => Promise<Order>, bigint, ...string[]]> = {
  'the whole sum': [() => pay(), 1_000n],
  'a part': [() => pay(), 400n],
  'the rest': [() => pay([400n]), 600n],
  'too much': [() => pay(), 1_500n, 'amount_differs 500'],
  'a rest that is too much': [() => pay([400n]), 1_000n, 'amount_differs 400'],
  'once more': [() => pay([1_000n]), 1_000n, 'twice 1000'],
  'a part once more': [() => pay([400n, 600n]), 300n, 'twice 300'],
  'too late': [
    async () => {
      const order = await pay()
      clock.advance(40 * 86_400_000)
      return order
    },
    1_000n,
    'late 1000',
  ],
}

for (const [name, [prepare, amountMinor, ...expected]] of Object.entries(cases))
  test(`${name} is found alike by whoever books it and by whoever finds it booked`, async () => {
    for (const dies of [false, true]) {
      const order = await prepare()
      isDying = dies
      const saying = say(order, amountMinor)
      await (dies ? assert.rejects(saying, /killed/) : saying)
      isDying = false
      await operations.reconcile()
      const open = await reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 10 })
      const found = open.map(({ kind, sizeMinor }) => `${kind} ${sizeMinor}`)
      assert.deepEqual(found, expected, dies ? 'after a kill' : 'at once')
      for (const { breakId, item, amountMinor: unexplained } of open) {
        assert.deepEqual([item?.kind, item?.transferId, unexplained], ['transfer', order.paymentId, 0n])
        await reconciliation.breaks.accept(breakId, 'seen')
      }
      assert.equal(await operations.reconcile(), 0)
    }
  })

test('of two lines of one file that each pay the whole, the second comes once too often', async () => {
  await say(await bank.startedOrder(), 1_000n, 1_000n)
  const open = await reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 10 })
  assert.deepEqual(
    open.map(({ kind, sizeMinor }) => `${kind} ${sizeMinor}`),
    ['twice 1000'],
  )
  for (const { breakId } of open) await reconciliation.breaks.accept(breakId, 'seen')
})
