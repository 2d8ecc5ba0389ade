// Whoever paid from a wallet hears that a refund is in it, in the transaction that puts it there.
import { toDecimalText } from '@tillgate/protocol'
import type { MerchantStore } from '../../core/merchants/store/merchants.ts'
import type { TellRefund } from '../../core/orders/payments/settle.ts'
import type { WalletStore } from '../../core/wallets/store/wallets.ts'
import type { TellOwner } from '../../core/wallets/tell-owner.ts'

export function makeTellRefund(parts: {
  readonly wallets: Pick<WalletStore, 'findWallet'>
  readonly merchants: Pick<MerchantStore, 'findMerchant'>
  readonly tellOwner: Pick<TellOwner, 'refundArrived'>
}): TellRefund {
  return async (walletId, { merchantId, orderNo, currency }, amountMinor) => {
    const [wallet, merchant] = await Promise.all([
      parts.wallets.findWallet(walletId),
      parts.merchants.findMerchant(merchantId),
    ])
    if (!wallet || !merchant) return []
    const amount = `${toDecimalText(amountMinor, currency)} ${currency}`
    return parts.tellOwner.refundArrived(wallet, { amount, merchant: merchant.merchant.name, orderNo })
  }
}
