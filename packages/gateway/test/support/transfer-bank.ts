// A bank account to which consumers pay by bank transfer, and the statements that its bank gives.

import assert from 'node:assert/strict'
import { fileOf } from '../../../../reliability/reconciliation/planted-month.ts'
import { camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { noExtras } from '../../src/actions/rails/rail-actions.ts'
import type { Order } from '../../src/core/orders/rules/order.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import { actingAs } from './acting.ts'
import { openRails } from './rails.ts'

const currency = 'USD'
const iban = 'DE89370400440532013000'
const payerIban = 'NL91ABNA0417164300'

export async function openTransferBank(pool: Pool, given: Parameters<typeof openRails>[1]) {
  const { clock } = given
  const { money, operations, stores } = await openRails(pool, given)
  const merchant = await money.addMerchant()
  const { rails, banks, reconciliation } = actingAs(operations, 'console:alice')
  const addRail = async (railId: string) => {
    const account = { holder: 'Example GmbH', iban, bic: undefined, lines: [] }
    await rails.addTransferRail(
      railId,
      { ...noExtras, name: 'Bank transfer', currencies: [currency], account },
      'test',
    )
    operations.railDirectory.forget()
  }
  await addRail('transfer')
  await banks.changeBank('main', { holder: 'Operator', iban, lines: undefined, bic: undefined }, 'test')
  let files = 0
  return {
    money,
    operations,
    stores,
    reconciliation,
    merchant,
    /** Another way to pay to the same account. */
    addRail,

    async startedOrder(railId = 'transfer'): Promise<Order> {
      const order = await money.addOrder(merchant)
      await this.start(order, railId)
      return order
    },

    /** The consumer chooses to pay by bank transfer. */
    async start(order: Order, railId = 'transfer'): Promise<void> {
      const outcome = await operations.payByRail.start({ ...order, railId, locale: 'en' })
      assert(outcome.kind === 'started', outcome.kind)
    },

    /** A statement of today with these lines. */
    say(text: string, ...amounts: readonly bigint[]) {
      const day = new Date(clock.now()).toISOString().slice(0, 10)
      const name = `E${++files}`
      const lines = (amounts.length > 0 ? amounts : [1_000n]).map((amountMinor, index) => ({
        reference: `${name}-${index}`,
        day,
        amountMinor,
        text,
        partyIban: payerIban,
      }))
      const of = { iban, currency, version: 4, from: day, through: day, openingMinor: 0n, lines } as const
      return reconciliation.importStatement({ file: fileOf(name, camt053(of)), reason: 'test' })
    },

    async statusOf({ merchantId, paymentId }: Order): Promise<string | undefined> {
      return (await money.orders.findOrder({ merchantId, paymentId }))?.status
    },
  }
}

/** A pool of a process that dies before any statement in which `at` answers a text that stands in it. */
export function mortalPool(pool: Pool, at: () => string | undefined): Pool {
  return {
    ...pool,
    transaction: (work, options) =>
      pool.transaction(
        (transaction) =>
          work({
            query(statement, values) {
              const text = typeof statement === 'string' ? statement : statement.text
              const point = at()
              if (point !== undefined && text.includes(point)) throw new Error('killed')
              return transaction.query(statement, values)
            },
          }),
        options,
      ),
  }
}
