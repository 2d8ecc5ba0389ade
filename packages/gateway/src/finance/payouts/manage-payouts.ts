// Single payouts: requested by an operator, and ended by the bank's result.

import { Failure, makeTransactionId, makeUuid, toDecimalText } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { carryOutOnce, type Once } from '../../core/audit/carry-out-once.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import { availableMinor, noBalances } from '../../core/ledger/rules/transfer.ts'
import type { WalletStore } from '../../core/wallets/store/wallets.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { checkValueDate } from '../treasury/rules/operator-bank-account.ts'
import type { TreasuryStore } from '../treasury/store/treasury.ts'
import { makeNotifyPayout, type NotifyPayoutParts } from './notify-payout.ts'
import { type Ending, endPayout } from './rules/end-payout.ts'
import type { Payout } from './rules/payout.ts'
import { maxPayoutMinor } from './rules/payout-amount.ts'
import type { PayoutRunStore } from './store/payout-runs.ts'
import type { PayoutFilter, PayoutKey, PayoutStore } from './store/payouts.ts'
import type { RequestPayoutStore } from './store/request-payout.ts'

export interface ManagePayoutsParts extends ClockAndRandom, NotifyPayoutParts {
  readonly payouts: PayoutStore
  readonly payoutRuns: Pick<PayoutRunStore, 'findRun'>
  readonly payoutRequests: RequestPayoutStore
  readonly treasury: Pick<TreasuryStore, 'isRecorded' | 'recordedAt'>
  readonly wallets: Pick<WalletStore, 'findWallet'>
}

export interface PayoutGiven {
  readonly merchantId: string
  readonly currency: string
  readonly amountMinor: bigint
  readonly bankName: string
}

export interface MadePayout {
  readonly payoutId: string
  readonly leftMinor: bigint
}

export type ManagePayouts = ReturnType<typeof makeManagePayouts>

export function makeManagePayouts(parts: ManagePayoutsParts) {
  const { payouts, payoutRuns, payoutRequests, treasury, random } = parts
  const notify = makeNotifyPayout(parts)

  const find = async (key: PayoutKey): Promise<Payout> => {
    const found = await payouts.findPayout(key)
    if (found) return found
    throw new Failure('not_found', { message: `This merchant has no payout ${key.payoutId}.` })
  }

  const availableIn = async (merchantId: string, currency: string): Promise<bigint> => {
    const accounts = await payoutRequests.listBalances(merchantId)
    return availableMinor(accounts.find((each) => each.currency === currency) ?? noBalances)
  }

  return {
    findPayout: (_context: AnyContext, key: PayoutKey) => find(key),

    listPayouts: (
      _context: AnyContext,
      filter: PayoutFilter,
      page: { before?: string | undefined; limit: number },
    ) => payouts.listPayouts(filter, page),

    /** When the action with this id ran; undefined if it did not. */
    doneAt: (_context: AnyContext, idempotencyKey: string): Promise<number | undefined> =>
      treasury.recordedAt(idempotencyKey),

    /** A plan's reserve does not apply. The balance cannot become negative. */
    async requestPayout(
      context: AnyContext,
      given: PayoutGiven,
      { reason, ...once }: { readonly reason: string } & Once,
    ): Promise<MadePayout> {
      const { merchantId, currency, amountMinor } = given
      checkMost(amountMinor, currency)
      const recorded = makeAuditEntry(parts, context, 'merchant.payout', merchantId, {
        merchantId,
        reason,
        auditId: once.idempotencyKey,
      })
      const request = {
        ...given,
        payoutId: makeTransactionId(recorded.actedAtMs, random),
        runId: makeUuid(recorded.actedAtMs, random),
      }
      const outcome = await carryOutOnce<'no_bank_account' | 'insufficient_funds'>(recorded, once, {
        isRecorded: treasury.isRecorded,
        async attempt() {
          const requested = await payoutRequests.requestPayout(request, recorded)
          return requested === 'requested' ? 'done' : requested
        },
      })
      if (outcome === 'no_bank_account') throw noBankAccount(currency)
      const leftMinor = await availableIn(merchantId, currency)
      if (outcome === 'insufficient_funds') throw tooLittle(leftMinor, currency)
      const payoutId = await payoutRequests.findByAuditId(merchantId, recorded.auditId)
      return { payoutId: payoutId ?? request.payoutId, leftMinor }
    },

    /** Throws if the status does not allow it, or changed meanwhile. */
    async endPayout(context: AnyContext, key: PayoutKey, ending: Ending, reason: string): Promise<Payout> {
      if (ending.outside) checkValueDate(ending.outside.valueDate)
      const payout = await find(key)
      const { merchantId, payoutId, walletId } = payout
      const run = await payoutRuns.findRun(payout.runId)
      if (!run) throw new Error('every payout has its run')
      const wallet = walletId === undefined ? undefined : await parts.wallets.findWallet(walletId)
      const emails = notify(payout, { status: ending.status, reason, wallet })
      const recorded = makeAuditEntry(parts, context, `payout.${verbs[ending.status]}`, payoutId, {
        merchantId,
        reason,
        emails,
        // Cancelling before the file was sent returns money that never left.
        ...(ending.status === 'cancelled' && payout.status === 'requested' && { effects: [] }),
      })
      const change = endPayout(payout, ending, {
        bankName: run.bankName,
        auditId: recorded.auditId,
        nowMs: recorded.actedAtMs,
        random,
      })
      if (await payouts.changePayout(change, recorded)) return find(key)
      const now = await find(key)
      throw new Failure('status_does_not_allow', { message: `The payout is already ${now.status}.` })
    },
  }
}

const verbs = { paid: 'paid', returned: 'return', cancelled: 'cancel' } as const satisfies Record<
  Ending['status'],
  string
>

function checkMost(amountMinor: bigint, currency: string): void {
  const most = maxPayoutMinor(currency)
  if (amountMinor <= most) return
  throw new Failure('invalid_field', {
    field: 'amount',
    message: `amount must be at most ${toDecimalText(most, currency)}, the limit for one bank transfer.`,
  })
}

function noBankAccount(currency: string): Failure {
  return new Failure('status_does_not_allow', {
    message: `The merchant has no usable bank account for ${currency}. Set one; it becomes usable after the waiting period.`,
  })
}

function tooLittle(leftMinor: bigint, currency: string): Failure {
  return new Failure('status_does_not_allow', {
    message: `The merchant’s balance is only ${toDecimalText(leftMinor, currency)} ${currency}.`,
  })
}
