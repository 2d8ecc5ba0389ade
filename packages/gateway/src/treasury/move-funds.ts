// An operator's transfers: tops up wallets, pays merchants out. Each with who did it and why, and once only, also when
// the answer of the database is lost.
import { Failure, makeTransactionId, makeUuid, toDecimalText } from '@tillgate/protocol'
import {
  type AccountKey,
  accountIdOf,
  availableMinor,
  bankAccount,
  merchantAccount,
  noBalances,
  type OutsideMark,
  type Transfer,
  walletAccount,
} from '../ledger/rules/transfer.ts'
import type { Approval } from '../operators/rules/approval.ts'
import type { Act } from '../operators/rules/audit.ts'
import type { ClockAndRandom } from '../platform/clock.ts'
import { type Outside, throughMainBank } from './rules/bank-account.ts'
import type { TreasuryStore } from './store/treasury.ts'

export interface MoveFundsParts extends ClockAndRandom {
  readonly treasury: TreasuryStore
  readonly actor: string
}

export interface TopUp {
  readonly walletId: string
  readonly currency: string
  readonly amountMinor: bigint
}

export interface Payout {
  readonly merchantId: string
  readonly currency: string
  readonly amountMinor: bigint
}

/** By what an act is known that may be sent twice: its own id, or the request that it uses up. */
export interface Once {
  readonly actId?: string | undefined
  readonly approval?: Approval | undefined
}

export type MoveFunds = ReturnType<typeof makeMoveFunds>

const maxTries = 5

export function makeMoveFunds({ treasury, clock, random, actor }: MoveFundsParts) {
  return {
    /** Several at once are one act. */
    async topUp(
      topUps: readonly TopUp[],
      { subject, reason, outside = throughMainBank, ...once }: Reason & { subject: string } & Once,
    ): Promise<void> {
      const act = newAct({ act: 'wallet.top-up', merchantId: undefined, subject, reason }, once)
      const moves = topUps.map(({ walletId, currency, amountMinor }) => ({
        from: bankAccount(outside.bankName, currency),
        to: walletAccount(walletId, currency),
        amountMinor,
      }))
      await move(moves, { act, kind: 'top_up', merchantId: '', outside, isOnce: isOnce(once) })
    },

    /** When the act of this id was carried out; undefined: it was not. */
    doneAt: (actId: string): Promise<number | undefined> => treasury.recordedAt(actId),

    /** Throws where the merchant's wallet has too little for it now. */
    async checkPayOut({ merchantId, currency, amountMinor }: Payout): Promise<void> {
      const left = await available(merchantAccount(merchantId, currency))
      if (left < amountMinor) throw tooLittle(left, currency)
    },

    /** What is left in the merchant's wallet afterwards. */
    async payOut(
      { merchantId, currency, amountMinor }: Payout,
      reason: string,
      { outside = throughMainBank, ...once }: Once & Pick<Reason, 'outside'> = {},
    ): Promise<bigint> {
      const act = newAct({ act: 'merchant.payout', merchantId, subject: merchantId, reason }, once)
      const from = merchantAccount(merchantId, currency)
      const to = bankAccount(outside.bankName, currency)
      const moved = await move([{ from, to, amountMinor }], {
        act,
        kind: 'payout',
        merchantId,
        outside,
        isOnce: isOnce(once),
      })
      const left = await available(from)
      if (!moved) throw tooLittle(left, currency)
      return left
    },
  }

  function newAct(
    given: Pick<Act, 'act' | 'merchantId' | 'subject' | 'reason'>,
    { actId, approval }: Once,
  ): Act {
    const nowMs = clock.now()
    return { auditId: actId ?? makeUuid(nowMs, random), actedAtMs: nowMs, actor, approval, ...given }
  }

  async function move(
    moves: readonly Move[],
    {
      act,
      kind,
      merchantId,
      outside,
      isOnce,
    }: { act: Act; kind: 'top_up' | 'payout'; merchantId: string; outside: Outside; isOnce: boolean },
  ): Promise<boolean> {
    await treasury.openAccounts(moves.flatMap(({ from, to }) => [from, to]))
    const transfers = moves.map(({ from, to, amountMinor }): Transfer => {
      const transferId = makeTransactionId(act.actedAtMs, random)
      return {
        merchantId,
        transferId,
        kind,
        phase: 'direct',
        holdId: undefined,
        debitAccountId: accountIdOf(from),
        creditAccountId: accountIdOf(to),
        currency: from.currency,
        amountMinor,
        paymentId: undefined,
        refundId: undefined,
        auditId: act.auditId,
        madeAtMs: act.actedAtMs,
        outside: outsideMark(outside, { transferId, nowMs: act.actedAtMs }),
      }
    })
    // Whose act may have been carried out already: by an answer that was lost, or by a form that was sent twice.
    let isRepeated = isOnce
    for (let tries = 0; tries < maxTries; tries++) {
      if (isRepeated && (await treasury.isRecorded(act))) return true
      const outcome = await treasury.move(transfers, act).catch((error: unknown) => {
        // The other one came in between, and its entry is there now; or nobody knows.
        if (!isRepeated || error instanceof Failure) throw error
        return 'unknown' as const
      })
      // The other one may have been first, and taken the money that is missing now.
      if (outcome === 'insufficient_funds') return isRepeated && treasury.isRecorded(act)
      if (outcome === 'moved') return true
      isRepeated = true
    }
    throw new Failure('unavailable', {
      retryAfterSeconds: 1,
      message: `It is not known whether this was done. Look for ${act.auditId} in the audit before you do it again.`,
    })
  }

  async function available(key: AccountKey): Promise<bigint> {
    const accounts = await treasury.listAccounts(key)
    return availableMinor(accounts.find(({ currency }) => currency === key.currency) ?? noBalances)
  }
}

/** What a transfer through a bank account bears. */
function outsideMark(
  { reference, valueDate }: Outside,
  { transferId, nowMs }: { transferId: string; nowMs: number },
): OutsideMark {
  return {
    reference: reference ?? transferId,
    valueDate: valueDate ?? new Date(nowMs).toISOString().slice(0, 10),
  }
}

interface Reason {
  readonly reason: string
  /** The main bank account unless given. */
  readonly outside?: Outside | undefined
}

function isOnce({ actId, approval }: Once): boolean {
  return actId !== undefined || approval !== undefined
}

interface Move {
  readonly from: AccountKey
  readonly to: AccountKey
  readonly amountMinor: bigint
}

function tooLittle(leftMinor: bigint, currency: string): Failure {
  return new Failure('status_does_not_allow', {
    message: `The merchant's wallet has ${toDecimalText(leftMinor, currency)} ${currency}, which is too little.`,
  })
}
