// The gateway's own merchant for top-ups and withdrawals. It is created on first use, without keys; suspending it
// stops both.

import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { type Merchant, newMerchant } from '../../core/merchants/rules/merchant.ts'
import type { MerchantStore } from '../../core/merchants/store/merchants.ts'
import { ownMerchantId } from '../../core/orders/rules/top-up.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'

export type FindOwnMerchant = () => Promise<Merchant>

export function makeFindOwnMerchant(
  parts: ClockAndRandom & {
    readonly merchants: Pick<MerchantStore, 'findMerchant' | 'insertMerchant'>
    /** The operator's name, as consumers see it. */
    readonly name: string
  },
): FindOwnMerchant {
  const { merchants, clock, random, name } = parts
  return async () => {
    const found = await merchants.findMerchant(ownMerchantId)
    if (found) return found.merchant
    const merchant = newMerchant({ merchantId: ownMerchantId, name, createdAtMs: clock.now() })
    const entry = makeAuditEntry({ clock, random }, { actor: 'gateway' }, 'merchant.add', ownMerchantId, {
      merchantId: ownMerchantId,
      reason: 'for top-ups and withdrawals of wallets',
    })
    // A concurrent call may create it.
    await merchants.insertMerchant(merchant, [], entry)
    return (await merchants.findMerchant(ownMerchantId))?.merchant ?? merchant
  }
}
