// A payout to a merchant's or a withdrawing consumer's bank account. The money is held while it is requested or sent.
// Paid posts the hold, cancelled voids it, and a returned payout is posted and comes back.
import { Failure } from '@tillgate/protocol'
import type { BankDetails } from '../../treasury/rules/operator-bank-account.ts'

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
  /** This ID is also the end-to-end ID at the bank and the ID of the hold. */
  readonly payoutId: string
  readonly runId: string
  /** The source of a withdrawal; undefined: the merchant's account. */
  readonly walletId?: string | undefined
  /** Undefined: not from a plan. */
  readonly planDay: string | undefined
  readonly status: PayoutStatus
  readonly currency: string
  readonly amountMinor: bigint
  /** A copy from the time of the request. */
  readonly account: BankDetails
  readonly requestedAtMs: number
  readonly sentAtMs: number | undefined
  readonly endedAtMs: number | undefined
  /** The bank's reference and booking day. */
  readonly reference: string | undefined
  readonly valueDate: string | undefined
  /** Why it was returned or cancelled. */
  readonly message: string | undefined
}

/** The payouts of one operator account and currency that go to the bank as one file. */
export interface PayoutRun {
  readonly runId: string
  readonly bankName: string
  readonly currency: string
  /** The plans' day, or the day of the request. */
  readonly day: string
  /** Counts runs of the same day after the first was closed; undefined for a single payout. */
  readonly part: number | undefined
  readonly createdAtMs: number
  /** No payouts join afterwards. */
  readonly closedAtMs: number | undefined
  /** The file is available and fixed afterwards. */
  readonly sentAtMs: number | undefined
  /** The paying account as of the sending. */
  readonly debtor: BankDetails | undefined
  /** The recorded result; workers then end the payouts in batches. */
  readonly ending: 'paid' | 'cancelled' | undefined
  readonly reference: string | undefined
  readonly valueDate: string | undefined
  readonly message: string | undefined
  readonly endedAtMs: number | undefined
}

/** Throws for an invalid status change. */
export function checkNextStatus(from: PayoutStatus, to: PayoutStatus): void {
  const possible: readonly PayoutStatus[] = nextStatuses[from]
  if (possible.includes(to)) return
  throw new Failure('status_does_not_allow', {
    message: `The payout is ${from}; ${possible.length === 0 ? 'this status is final' : `it can become ${possible.join(' or ')}, not ${to}`}.`,
  })
}

export const moneyMoves = {
  sent: [],
  paid: ['post'],
  returned: ['post', 'return'],
  cancelled: ['void'],
} as const satisfies Record<Exclude<PayoutStatus, 'requested'>, readonly ('post' | 'void' | 'return')[]>

/** A paid payout is not posted again when it is returned. */
export function movesOf(from: PayoutStatus, to: Exclude<PayoutStatus, 'requested'>) {
  checkNextStatus(from, to)
  return moneyMoves[to].filter((move) => from !== 'paid' || move === 'return')
}
