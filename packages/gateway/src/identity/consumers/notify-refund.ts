// Emails the wallet's owner about a refund, in the transaction that credits it.
import { toDecimalText } from '@tillgate/protocol'
import type { MerchantStore } from '../../core/merchants/store/merchants.ts'
import type { NotifyRefund } from '../../core/orders/payments/settle.ts'
import type { NotifyOwner } from '../../core/wallets/notify-owner.ts'
import type { WalletStore } from '../../core/wallets/store/wallets.ts'

export function makeNotifyRefund(parts: {
  readonly wallets: Pick<WalletStore, 'findWallet'>
  readonly merchants: Pick<MerchantStore, 'findMerchant'>
  readonly notifyOwner: Pick<NotifyOwner, 'refundArrived'>
}): NotifyRefund {
  return async (walletId, { merchantId, orderNo, currency }, amountMinor) => {
    const [wallet, merchant] = await Promise.all([
      parts.wallets.findWallet(walletId),
      parts.merchants.findMerchant(merchantId),
    ])
    if (!wallet || !merchant) return []
    const amount = `${toDecimalText(amountMinor, currency)} ${currency}`
    return parts.notifyOwner.refundArrived(wallet, { amount, merchant: merchant.merchant.name, orderNo })
  }
}
