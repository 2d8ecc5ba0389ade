// On a Citus cluster, which has no snapshot over its machines: the books are proved while money moves, and what is really
// wrong is still found.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import { isTransient } from '../../src/platform/database/transient.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const money = openMoney(pool, { clock })

test('the ledger is clean while payments and refunds are under way, and a wrong book is found all the same', async () => {
  const merchant = await money.addMerchant()
  let isOver = false
  let paid = 0
  const pay = async () => {
    while (!isOver)
      try {
        const walletId = await money.addWallet(1_000n)
        const order = await money.addOrder(merchant)
        await money.submitPayment({ ...order, walletId })
        await money.settle()
        const refund = { paymentId: order.paymentId, referRefundNo: `r-${paid}`, refundAmount: 1 }
        if (paid++ % 2 === 0) await money.refundOrder(merchant, JSON.stringify(refund))
      } catch (error) {
        // Of two who wait for each other in a circle one is answered with 50300; a refund may find its order unsettled.
        if (!isTransient(error) && !(error instanceof Failure)) throw error
      }
  }
  const paying = Promise.all([pay(), pay(), pay(), pay()])
  try {
    for (let round = 0; round < 10; round++) assert.deepEqual(await money.verify(), [])
  } finally {
    isOver = true
  }
  await paying
  assert.ok(paid > 10)
  await pool.query(
    `update accounts set credits_posted = credits_posted + 1 where account_id like 'merchant:%'`,
  )
  assert.ok((await money.verify()).length > 0)
})
