// Emails about ended payouts, single or with their run.
import { toDecimalText } from '@tillgate/protocol'
import type { MakeEmails } from '../../core/emails/make-emails.ts'
import type { NewEmail } from '../../core/emails/rules/email.ts'
import type { NotifyOwner } from '../../core/wallets/notify-owner.ts'
import type { Wallet } from '../../core/wallets/rules/wallet.ts'
import type { Ending } from './rules/end-payout.ts'
import type { Payout } from './rules/payout.ts'

export interface NotifyPayoutParts {
  readonly makeEmails: MakeEmails
  readonly notifyOwner: Pick<NotifyOwner, 'withdrawalReturned'>
}

interface PayoutEnd {
  readonly status: Ending['status']
  readonly reason: string
  readonly wallet: Wallet | undefined
}

/** Notifies the merchant, or the consumer whose withdrawal does not arrive. */
export function makeNotifyPayout({ makeEmails, notifyOwner }: NotifyPayoutParts) {
  return (payout: Payout, { status, reason, wallet }: PayoutEnd): readonly NewEmail[] => {
    const { merchantId, payoutId, walletId, amountMinor, currency } = payout
    const amount = `${toDecimalText(amountMinor, currency)} ${currency}`
    if (walletId !== undefined)
      return wallet && status !== 'paid' ? notifyOwner.withdrawalReturned(wallet, { amount, reason }) : []
    const about = { amount, payoutId }
    if (status === 'paid') return makeEmails('payout-paid', { merchantId, parameters: about })
    if (status === 'returned')
      return makeEmails('payout-returned', { merchantId, parameters: { ...about, reason } })
    return []
  }
}
