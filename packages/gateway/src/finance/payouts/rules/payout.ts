// A payout: money on its way from the books to a bank account, a merchant's or that of a consumer who withdraws. While it is requested or sent the money is
// held; paid posts it, cancelled sets it free. What the bank sends back had left: it is posted, and comes in again.
import { Failure } from '@tillgate/protocol'
import type { BankDetails } from '../../treasury/rules/bank-account.ts'

export const payoutStatuses = ['requested', 'sent', 'paid', 'returned', 'cancelled'] as const
export type PayoutStatus = (typeof payoutStatuses)[number]

export const nextStatuses = {
  requested: ['sent', 'cancelled'],
  sent: ['paid', 'returned', 'cancelled'],
  paid: ['returned'],
  returned: [],
  cancelled: [],
} as const satisfies Record<PayoutStatus, readonly PayoutStatus[]>

export interface Payout {
  readonly merchantId: string
  /** Also its end-to-end id at the bank, and the transfer that holds its money. */
  readonly payoutId: string
  readonly runId: string
  /** The wallet that it comes out of; undefined: the merchant's account. */
  readonly walletId?: string | undefined
  /** The day of its plan; undefined: somebody asked for it. */
  readonly planDay: string | undefined
  readonly status: PayoutStatus
  readonly currency: string
  readonly amountMinor: bigint
  /** Where it goes, as it was when it was requested. */
  readonly account: BankDetails
  readonly requestedAtMs: number
  readonly sentAtMs: number | undefined
  /** When it came to its end, or was paid. */
  readonly endedAtMs: number | undefined
  /** The bank's number for the booking, and its day. */
  readonly reference: string | undefined
  readonly valueDate: string | undefined
  /** Why it came back, or was cancelled. */
  readonly message: string | undefined
}

/** All payouts of one account of the operator in one currency that go to the bank as one file. */
export interface PayoutRun {
  readonly runId: string
  readonly bankName: string
  readonly currency: string
  /** The day of the plans that it is for, or the day on which somebody asked for it. */
  readonly day: string
  /** What comes for the same day after the run was closed has the next number; undefined: one payout by hand. */
  readonly part: number | undefined
  readonly createdAtMs: number
  /** From then on nothing joins it. */
  readonly closedAtMs: number | undefined
  /** From then on its file can be had, and is always the same. */
  readonly sentAtMs: number | undefined
  /** Whose account pays, as it was when the run was sent. */
  readonly debtor: BankDetails | undefined
  /** What somebody said became of it; workers end its payouts, one batch after the other. */
  readonly ending: 'paid' | 'cancelled' | undefined
  readonly reference: string | undefined
  readonly valueDate: string | undefined
  readonly message: string | undefined
  readonly endedAtMs: number | undefined
}

/** Throws where a payout of this status does not come to that one. */
export function checkNextStatus(from: PayoutStatus, to: PayoutStatus): void {
  const possible: readonly PayoutStatus[] = nextStatuses[from]
  if (possible.includes(to)) return
  throw new Failure('status_does_not_allow', {
    message: `The payout is ${from}; ${possible.length === 0 ? 'nothing changes that any more' : `it can become ${possible.join(' or ')}, not ${to}`}.`,
  })
}

/** What happens to the money when a payout changes its status. */
export const moneyMoves = {
  sent: [],
  paid: ['post'],
  returned: ['post', 'return'],
  cancelled: ['void'],
} as const satisfies Record<Exclude<PayoutStatus, 'requested'>, readonly ('post' | 'void' | 'return')[]>

/** What was posted when it was paid is not posted again when it comes back. */
export function movesOf(from: PayoutStatus, to: Exclude<PayoutStatus, 'requested'>) {
  checkNextStatus(from, to)
  return moneyMoves[to].filter((move) => from !== 'paid' || move === 'return')
}
