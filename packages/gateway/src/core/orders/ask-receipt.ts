// Emails a receipt of a paid order to a consumer. The address is erased after sending; each address gets one receipt
// per order.

import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import type { MakeEmails } from '../emails/make-emails.ts'
import type { EmailLanguage } from '../emails/rules/email.ts'
import type { EmailStore } from '../emails/store/emails.ts'
import type { Order } from './rules/order.ts'

export interface AskReceiptParts {
  readonly emails: Pick<EmailStore, 'queue'>
  readonly makeEmails: MakeEmails
  readonly tokens: Tokens
}

export interface ReceiptWish {
  readonly email: string
  readonly language: EmailLanguage
  readonly merchant: string
  readonly amount: string
  readonly time: string
}

export type AskReceipt = ReturnType<typeof makeAskReceipt>

export function makeAskReceipt({ emails, makeEmails, tokens }: AskReceiptParts) {
  return async ({ orderNo, paymentId }: Order, wish: ReceiptWish): Promise<void> => {
    const { email, language, merchant, amount, time } = wish
    await emails.queue(
      makeEmails('receipt', {
        to: { email, language },
        parameters: { merchant, amount, time, orderNo, paymentId },
        // The key outlives the address and must not reveal it.
        onceKey: tokens.make(['receipt', paymentId, email]),
      }),
    )
  }
}
