// Formats a run as comma-separated values, for banks without payment files and for people. Like the payment file, it
// never changes.
import { toDecimalText } from '@tillgate/protocol'
import { csvRow } from '../../../platform/runtime/csv.ts'
import type { Payout } from './payout.ts'

export const payoutCsvHead = csvRow([
  'payoutId',
  'merchantId',
  'currency',
  'amount',
  'holder',
  'iban',
  'bic',
  'lines',
])

export function payoutCsvRow({ payoutId, merchantId, currency, amountMinor, account }: Payout): string {
  return csvRow([
    payoutId,
    merchantId,
    currency,
    toDecimalText(amountMinor, currency),
    account.holder,
    account.iban ?? '',
    account.bic ?? '',
    account.lines?.join(', ') ?? '',
  ])
}
