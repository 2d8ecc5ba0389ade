// What a bank booked for an order, as the domain knows it, to be bent by tests that need no database.
import type { TransferEntry } from '../../src/finance/rails/rules/bank-transfer.ts'
import { nowMs } from './order-value.ts'

export function transferEntry(changes: Partial<TransferEntry> = {}): TransferEntry {
  return {
    railId: 'transfer',
    outsideReference: 'E',
    merchantId: 'm',
    paymentId: 'P1',
    ordinal: 1,
    direction: 'in',
    transferId: 'T',
    refundId: undefined,
    amountMinor: 0n,
    currency: 'USD',
    valueDate: '2026-01-01',
    party: undefined,
    bankName: undefined,
    auditId: 'a',
    recordedAtMs: nowMs,
    ...changes,
  }
}
