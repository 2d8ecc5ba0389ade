// Books in memory for random commands over the pure rules of money: what is posted, and that it adds up.
import assert from 'node:assert/strict'
import {
  addBalances,
  availableMinor,
  type Balances,
  effectsOf,
  noBalances,
  type Transfer,
} from '../../src/core/ledger/rules/transfer.ts'
import { returnedFeeMinor } from '../../src/core/orders/fees/rules/fee.ts'
import type { Refund } from '../../src/core/orders/refunds/rules/refund.ts'
import type { Order } from '../../src/core/orders/rules/order.ts'
import type { Payout } from '../../src/finance/payouts/rules/payout.ts'
import { nowMs } from './order-value.ts'

export interface Sale {
  order: Order
  /** What the ledger moved for it: to the merchant, to fees, and back to the consumer. */
  netMinor: bigint
  feesMinor: bigint
  backMinor: bigint
  readonly refunding: Refund[]
}

export class Books {
  readonly accounts = new Map<string, Balances>()
  readonly sales: Sale[] = []
  readonly payouts: Payout[] = []
  readonly correctable: { transfer: Transfer; correctedMinor: bigint }[] = []
  checked = 0
  #state: number
  #ids = 0

  constructor(seed: number) {
    this.#state = seed
  }

  nat(below: number): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.nat(items.length)]
    assert(item !== undefined)
    return item
  }

  amount(): bigint {
    return BigInt(1 + this.nat(this.nat(4) === 0 ? 100_000 : 300))
  }

  id(prefix: string): string {
    return `${prefix}${this.#ids++}`
  }

  bytes(size: number): Uint8Array {
    return Uint8Array.from({ length: size }, () => this.nat(256))
  }

  availableMinor(accountId: string): bigint {
    return availableMinor(this.accounts.get(accountId) ?? noBalances)
  }

  /** All or none: nothing goes below zero that may not. */
  post(transfers: readonly Transfer[]): boolean {
    const after = [...effectsOf(transfers)].map(([accountId, effect]) => {
      return [accountId, addBalances(this.accounts.get(accountId) ?? noBalances, effect)] as const
    })
    const isOverdrawn = after.some(
      ([accountId, balances]) => availableMinor(balances) < 0n && !mayOwe(accountId),
    )
    if (isOverdrawn) return false
    for (const [accountId, balances] of after) this.accounts.set(accountId, balances)
    return true
  }

  postSale(sale: Sale, transfers: readonly Transfer[]): void {
    assert.ok(this.post(transfers), 'what was held is there')
    for (const { kind, phase, amountMinor } of transfers) {
      if (phase !== 'post' && phase !== 'direct') continue
      if (kind === 'payment') sale.netMinor += amountMinor
      if (kind === 'refund') {
        sale.netMinor -= amountMinor
        sale.backMinor += amountMinor
      }
      const sign = kind === 'fee' ? 1n : -1n
      if (kind === 'fee' || kind === 'fee_return') {
        sale.feesMinor += sign * amountMinor
        sale.netMinor -= sign * amountMinor
      }
    }
    this.check(sale)
  }

  check({ order, netMinor, feesMinor, backMinor }: Sale): void {
    const { paymentAmountMinor, fee, refundedMinor } = order
    assert.equal(netMinor + feesMinor + backMinor, paymentAmountMinor)
    assert.equal(backMinor, refundedMinor)
    assert.equal(feesMinor, (fee?.amountMinor ?? 0n) - returnedFeeMinor(order, refundedMinor))
    assert.ok(feesMinor >= 0n && feesMinor <= paymentAmountMinor)
    this.checked += 1
  }

  direct(
    kind: Transfer['kind'],
    given: Pick<Transfer, 'merchantId' | 'debitAccountId' | 'creditAccountId'> & {
      currency: string
      amountMinor: bigint
      corrects?: string | undefined
    },
  ): Transfer {
    return {
      transferId: this.id('T'),
      kind,
      phase: 'direct',
      holdId: undefined,
      paymentId: undefined,
      refundId: undefined,
      auditId: 'a',
      madeAtMs: nowMs,
      ...given,
    }
  }

  checkAll(): void {
    const sums = new Map<string, bigint>()
    for (const [accountId, balances] of this.accounts) {
      const currency = accountId.slice(-3)
      const { debitsPostedMinor, creditsPostedMinor, debitsPendingMinor, creditsPendingMinor } = balances
      for (const side of [debitsPostedMinor, creditsPostedMinor, debitsPendingMinor, creditsPendingMinor])
        assert.ok(side >= 0n, accountId)
      const difference = debitsPostedMinor - creditsPostedMinor + (debitsPendingMinor - creditsPendingMinor)
      sums.set(currency, (sums.get(currency) ?? 0n) + difference)
      if (!mayOwe(accountId)) assert.ok(availableMinor(balances) >= 0n, accountId)
    }
    for (const [currency, difference] of sums) assert.equal(difference, 0n, currency)
  }
}

function mayOwe(accountId: string): boolean {
  return /^(bank|write_off):/.test(accountId)
}
