// The parts that move money, over a database and with a clock that the test holds: what gateway.ts puts together,
// without listeners and loops, so that a test takes every turn itself.

import { randomBytes } from 'node:crypto'
import { makePaymentId, makeUuid, type PaymentResult, type RefundResult } from '@tillgate/protocol'
import type { OperationConfig } from '../../src/app/operations.ts'
import { readConfig } from '../../src/app/settings/config.ts'
import type { AuditEntry } from '../../src/core/audit/rules/audit.ts'
import type { AuditedAction } from '../../src/core/authority/rules/effects.ts'
import type { Finding } from '../../src/core/ledger/store/ledger-checks.ts'
import { type Merchant, makeMerchantId, newMerchant } from '../../src/core/merchants/rules/merchant.ts'
import type { Rail } from '../../src/core/orders/payments/rules/rail.ts'
import { leaseMs } from '../../src/core/orders/payments/settle.ts'
import { makeOrder, type Order } from '../../src/core/orders/rules/order.ts'
import { type Behaviour, placeOfPin } from '../../src/core/wallets/rules/wallet.ts'
import { walletRail } from '../../src/finance/rails/wallet-rail.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import type { Clock } from '../../src/platform/runtime/clock.ts'
import { actingAs } from './acting.ts'
import { logTo } from './log.ts'
import { testOperations } from './operations.ts'
import { testEnvironment, testVault } from './started.ts'

export interface HeldClock extends Clock {
  advance(ms: number): void
}

/** Stands still until it is told to move; its waits never end by themselves. */
export function heldClock(startMs = 1_800_000_000_000): HeldClock {
  let nowMs = startMs
  return {
    now: () => nowMs,
    advance(ms) {
      nowMs += ms
    },
    wait: (_ms, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
  }
}

export type Money = ReturnType<typeof openMoney>

/** Fresh parts on a database; calling it again on the same one is a restart. */
export function openMoney(
  pool: Pool,
  { clock, rail = walletRail, config }: { clock: Clock; rail?: Rail; config?: Partial<OperationConfig> },
) {
  const random = randomBytes
  const troubles: unknown[] = []
  const { stores, operations } = testOperations(pool, {
    // Test wallets would fill up again by themselves.
    config: { ...readConfig(testEnvironment), mode: 'live', bankAccountWaitMs: 0, ...config },
    clock,
    rail,
    log: logTo(({ err }) => err !== undefined && troubles.push(err)),
  })
  const { orders, wallets } = stores
  const { funds, wallets: manageWallets } = actingAs(operations, 'test')
  const { captureOrder, releaseOrder } = operations
  const { submitPayment, settle, refundOrder, queryOrder, cancelOrder, expireOrders } = operations
  return {
    ...stores,
    operations,
    troubles,
    funds,
    manageWallets,
    submitPayment,
    /** `done` resolves with the number of those that come again. */
    async settleDue(limit: number) {
      const claimed = await settle.claim({ leaseMs, limit })
      const done = Promise.all(claimed.map(settle.work)).then((again) => again.filter(Boolean).length)
      return { claimed: claimed.length, done }
    },
    captureOrder,
    releaseOrder,
    refundOrder,
    queryOrder,
    cancelOrder,
    expireOrders,
    /** One turn of the worker, to its end. */
    async settle(): Promise<number> {
      const claimed = await settle.claim({ leaseMs, limit: 200 })
      await Promise.all(claimed.map(settle.work))
      return claimed.length
    },
    async addMerchant(): Promise<Merchant> {
      const merchant = newMerchant({
        merchantId: makeMerchantId(random),
        name: 'Shop',
        createdAtMs: clock.now(),
      })
      await stores.merchants.insertMerchant(merchant, [], testAct('merchant.add'))
      return merchant
    },
    async addOrder({ merchantId }: Merchant, given: Partial<OrderGiven> = {}): Promise<Order> {
      const { amountMinor = 1_000n, currency = 'USD', callbackUrl = 'https://shop.example/callback' } = given
      const nowMs = clock.now()
      const paymentId = makePaymentId(nowMs, random)
      const order = makeOrder(
        {
          order: { orderNo: `no-${paymentId}`, orderAmountMinor: amountMinor, goods: [] },
          channel: 'WEB',
          paymentAmountMinor: amountMinor,
          currency,
          paymentTimeMs: nowMs,
          paymentExpiryTimeMs: nowMs + (given.lifeMs ?? 600_000),
          ...(callbackUrl !== null && { callbackUrl }),
          ...(given.isManual && { captureMode: 'manual' as const }),
        },
        { merchantId, paymentId, nowMs },
      )
      await orders.insertOrder(order)
      return order
    },
    /** With a PIN that nobody knows, and with money. */
    async addWallet(
      minor = 0n,
      { currency = 'USD', behaviour }: { currency?: string; behaviour?: Behaviour } = {},
    ) {
      const walletId = makeUuid(clock.now(), random)
      await wallets.insertWallet(
        {
          walletId,
          login: `${walletId}@wallet.example`,
          name: 'Consumer',
          sealedPin: testVault.seal(Buffer.from('a PIN that nobody knows'), placeOfPin(walletId)),
          behaviour,
          createdAtMs: clock.now(),
        },
        testAct('wallet.add'),
      )
      if (minor > 0n)
        await funds.topUp([{ walletId, currency, amountMinor: minor }], { subject: walletId, reason: 'test' })
      return walletId
    },
    /** What is wrong with the books; empty when nothing is. */
    verify: async (): Promise<readonly Finding[]> => (await stores.verifyLedger()).findings,
    async balanceOf(walletId: string, currency = 'USD'): Promise<bigint> {
      return wallets.findAvailable(walletId, currency)
    },
  }

  function testAct(action: AuditedAction): AuditEntry {
    return {
      auditId: makeUuid(clock.now(), random),
      actedAtMs: clock.now(),
      actor: 'test',
      action,
      merchantId: undefined,
      subject: 'test',
      reason: undefined,
    }
  }
}

interface OrderGiven {
  readonly amountMinor: bigint
  readonly currency: string
  readonly callbackUrl: string | null
  readonly lifeMs: number
  readonly isManual: boolean
}

export interface CallbackRow {
  readonly eventName: string
  readonly refundId: string
  readonly body: Partial<Omit<PaymentResult, 'status'> & Omit<RefundResult, 'status'>> & { status?: string }
}

/** The callbacks of an order in the order in which they came to be. */
export async function callbacksOf(pool: Pool, { paymentId }: { paymentId: string }): Promise<CallbackRow[]> {
  const { rows } = await pool.query<{ event_name: string; refund_id: string; body: string }>(
    `select event_name, refund_id, body from callbacks where payment_id = $1
      order by created_at, array_position(array['payment.order.confirming'], event_name), callback_id`,
    [paymentId],
  )
  return rows.map((row) => ({
    eventName: row.event_name,
    refundId: row.refund_id,
    body: JSON.parse(row.body) as CallbackRow['body'],
  }))
}
