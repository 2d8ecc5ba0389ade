// Operators' actions on price lists: set, end, and explain a payment's fee.

import { Failure, makeUuid } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { type AnyContext, reading } from '../../core/authority/context.ts'
import type { MerchantStore } from '../../core/merchants/store/merchants.ts'
import { feeMinor } from '../../core/orders/fees/rules/fee.ts'
import {
  checkPrice,
  describePrice,
  describeScope,
  makePriceBook,
  type Price,
  type Priced,
  type PriceScope,
  priceLeadMs,
  type Terms,
} from '../../core/orders/fees/rules/price.ts'
import { walletRailId } from '../../core/orders/payments/rules/rail.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { PriceStore } from './store/prices.ts'

export interface ManagePricesParts extends ClockAndRandom {
  readonly prices: PriceStore
  readonly merchants: Pick<MerchantStore, 'findMerchant'>
  readonly isRail: (railId: string) => Promise<boolean>
}

export interface Explanation {
  readonly feeMinor: bigint
  readonly netMinor: bigint
  /** Undefined: no fee. */
  readonly price: Price | undefined
  /** The matching lists, most specific first, with why each applies or not. */
  readonly considered: readonly { readonly scope: string; readonly why: string }[]
}

export type ManagePrices = ReturnType<typeof makeManagePrices>

export function makeManagePrices(parts: ManagePricesParts) {
  const { prices, merchants, clock, random } = parts

  const checkScope = async ({ merchantId, railId }: PriceScope): Promise<void> => {
    if (merchantId !== undefined && !(await merchants.findMerchant(merchantId)))
      throw invalid('merchantId', `Merchant ${merchantId} does not exist.`)
    if (railId !== undefined && railId !== walletRailId && !(await parts.isRail(railId)))
      throw invalid('railId', `Rail ${railId} does not exist. \`${walletRailId}\` means the wallets here.`)
  }

  return {
    listPrices: reading(prices.listPrices),

    /** Without terms, a less specific list applies from then on. Defaults to a minute from now. */
    async setPrice(
      context: AnyContext,
      given: PriceScope & { readonly terms: Terms | undefined; readonly fromMs: number | undefined },
      reason: string,
    ): Promise<Price> {
      const { merchantId, railId, currency, terms, fromMs } = given
      await checkScope(given)
      const nowMs = clock.now()
      const price: Price = {
        priceId: makeUuid(nowMs, random),
        merchantId,
        railId,
        currency,
        terms,
        validFromMs: fromMs ?? nowMs + priceLeadMs,
        createdAtMs: nowMs,
      }
      checkPrice(price)
      const name = terms ? 'price.set' : 'price.end'
      const recorded = makeAuditEntry(parts, context, name, price.priceId, {
        merchantId,
        reason: `${describePrice(price)}: ${reason}`,
      })
      if (await prices.insertPrice(price, recorded)) return price
      throw new Failure('status_does_not_allow', {
        field: 'fromMs',
        message: `A price for ${describeScope(price)} with the same start time already exists. Enter another time.`,
      })
    },

    async explainFee(
      _context: AnyContext,
      priced: Priced & { readonly amountMinor: bigint; readonly atMs: number },
    ): Promise<Explanation> {
      await checkScope(priced)
      const { amountMinor, atMs } = priced
      const book = makePriceBook(await prices.listSince(0))
      const price = book.find(priced, atMs)
      const fee = price?.terms ? feeMinor(price.terms, amountMinor) : 0n
      return {
        feeMinor: fee,
        netMinor: amountMinor - fee,
        price,
        considered: book.candidates(priced, atMs).map(({ scope, price: candidate }) => ({
          scope: describeScope(scope),
          why: whyOf(candidate, price),
        })),
      }
    },
  }
}

function whyOf(candidate: Price | undefined, holding: Price | undefined): string {
  if (!candidate) return 'not in force yet'
  if (!candidate.terms) return 'ended'
  return candidate === holding ? 'holds: the most specific in force' : 'less specific'
}

function invalid(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}
