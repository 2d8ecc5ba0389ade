// service.sandbox.pay: pays an order as a test consumer would, with the outcome that was asked for.
import {
  Failure,
  ignoring,
  parseSandboxPayBody,
  type SandboxAnswer,
  type SandboxPay,
} from '@tillgate/protocol'
import type { Merchant } from '../merchants/rules/merchant.ts'
import type { SubmitPayment } from '../payments/submit-payment.ts'
import type { Behaviour } from '../wallets/rules/wallet.ts'
import type { WalletStore } from '../wallets/store/wallets.ts'
import { findTestWallet } from './test-wallets.ts'

const walletFor = {
  success: 'approves',
  failed: 'declines',
  confirming: 'stays_confirming',
  refund_fails: 'refund_fails',
} as const satisfies Record<SandboxPay['outcome'], Behaviour>

export function makeSandboxPay(parts: {
  readonly submitPayment: SubmitPayment
  readonly wallets: Pick<WalletStore, 'findWalletByLogin'>
}) {
  return async ({ merchantId }: Merchant, body: string): Promise<SandboxAnswer> => {
    const asked = parseSandboxPayBody(body)
    const { paymentId, outcome } = asked
    const wallet = await findTestWallet(parts.wallets, walletFor[outcome])
    if (!wallet) throw new Failure('unavailable', { retryAfterSeconds: 1 })
    const payment = await parts.submitPayment({ merchantId, paymentId, walletId: wallet.walletId })
    switch (payment.kind) {
      case 'submitted':
        return { paymentId, status: 'confirming', ...ignoring(asked) }
      case 'order_not_payable':
        throw new Failure('status_does_not_allow', {
          message: `The order is ${payment.status} and cannot be paid.`,
        })
      case 'insufficient_funds':
      case 'wallet_locked':
        throw new Failure('status_does_not_allow', {
          message: 'The test wallet cannot pay this: it is locked, or too many pay with it just now.',
        })
    }
  }
}
