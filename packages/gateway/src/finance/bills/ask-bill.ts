// service.bill.get: the totals of a day, and a download address that is valid for five minutes. The address carries a
// derived token, so nothing is stored.
import { type BillAnswer, ignoring, merchantIdPattern, parseBillBody, toWireAmount } from '@tillgate/protocol'
import type { Merchant } from '../../core/merchants/rules/merchant.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import type { ReadableBill, ReadBill } from './read-bill.ts'
import { type BillTotals, downloadLifeMs } from './rules/bill.ts'

export interface AskBillParts {
  readonly readBill: ReadBill
  readonly tokens: Tokens
  readonly publicUrl: string
  readonly clock: Clock
}

export interface BillAddress {
  readonly merchantId: string
  readonly day: string
  readonly endsAtMs: string
  readonly token: string
}

export type AskBill = ReturnType<typeof makeAskBill>

export function makeAskBill({ readBill, tokens, publicUrl, clock }: AskBillParts) {
  return {
    async ask({ merchantId }: Merchant, body: string): Promise<BillAnswer> {
      const { date, ...rest } = parseBillBody(body)
      const { bill } = await readBill({ merchantId, day: date })
      const endsAtMs = clock.now() + downloadLifeMs
      const token = tokens.make([merchantId, date, String(endsAtMs)])
      return {
        date,
        lineCount: bill.lines,
        byteCount: bill.bytes,
        sha256: bill.sha256,
        totals: bill.totals.map(answerTotals),
        downloadUrl: `${publicUrl}/bills/${merchantId}/${date}/${endsAtMs}/${token}`,
        downloadExpiryTime: endsAtMs,
        ...ignoring(rest),
      }
    },
    /** Undefined for any invalid address. */
    async open({ merchantId, day, endsAtMs, token }: BillAddress): Promise<ReadableBill | undefined> {
      const isRight = tokens.isRight(token, [merchantId, day, endsAtMs])
      if (!isRight || Number(endsAtMs) <= clock.now() || !merchantIdPattern.test(merchantId)) return undefined
      return readBill({ merchantId, day })
    },
  }
}

function answerTotals({ currency, ...minor }: BillTotals): BillAnswer['totals'][number] {
  const money = (name: keyof typeof minor) => toWireAmount(minor[name], currency)
  return {
    currency,
    opening: money('opening'),
    late: money('late'),
    payments: money('payments'),
    refunds: money('refunds'),
    fees: money('fees'),
    payouts: money('payouts'),
    corrections: money('corrections'),
    closing: money('closing'),
  }
}
