// An operator's transfers: tops up wallets, pays merchants out, corrects. Each with who did it and why, and once only, also
// when the answer of the database is lost.
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
import { type Correction, overCorrected, planCorrection } from './rules/correction.ts'
import type { MoveOutcome, TreasuryStore } from './store/treasury.ts'

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

interface Through {
  /** The main bank account unless given. */
  readonly outside?: Outside | undefined
}

export type MoveFunds = ReturnType<typeof makeMoveFunds>

const maxTries = 5

export function makeMoveFunds({ treasury, clock, random, actor }: MoveFundsParts) {
  return {
    /** Several at once are one act. */
    async topUp(
      topUps: readonly TopUp[],
      { subject, reason, outside, ...once }: { subject: string; reason: string } & Through & Once,
    ): Promise<void> {
      const act = newAct({ act: 'wallet.top-up', merchantId: undefined, subject, reason }, once)
      const { bankName } = outside ?? throughMainBank
      const moves = topUps.map(({ walletId, currency, amountMinor }) => ({
        from: bankAccount(bankName, currency),
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
      if (left < amountMinor) throw tooLittle(left, merchantAccount(merchantId, currency))
    },

    /** What is left in the merchant's wallet afterwards. */
    async payOut(
      { merchantId, currency, amountMinor }: Payout,
      reason: string,
      { outside, ...once }: Once & Through = {},
    ): Promise<bigint> {
      const act = newAct({ act: 'merchant.payout', merchantId, subject: merchantId, reason }, once)
      const from = merchantAccount(merchantId, currency)
      const to = bankAccount((outside ?? throughMainBank).bankName, currency)
      const outcome = await move([{ from, to, amountMinor }], {
        ...{ act, kind: 'payout', merchantId, outside, isOnce: isOnce(once) },
      })
      const left = await available(from)
      if (outcome !== 'moved') throw tooLittle(left, from)
      return left
    },

    /** Throws where it does not fit what it corrects now, or there is too little money. */
    async checkCorrection(correction: Correction): Promise<void> {
      const { from } = await plan(correction)
      const left = await available(from)
      const isBounded = from.ownerKind !== 'bank' && from.ownerKind !== 'write_off'
      if (isBounded && left < correction.amountMinor) throw tooLittle(left, from)
    },

    /** The number of its transfer. */
    async correct(correction: Correction, reason: string, once: Once = {}): Promise<string> {
      const { currency, amountMinor, corrects, outside } = correction
      const planned = await plan(correction).catch(async (error: unknown) => {
        // Sent again: there is less to correct because it was done.
        if (once.actId !== undefined && (await treasury.recordedAt(once.actId)) !== undefined)
          return undefined
        throw error
      })
      if (!planned) return once.actId ?? ''
      const { merchantId, from, to } = planned
      const act = newAct(
        {
          act: `correction.${correction.kind.replace('_', '-')}`,
          merchantId: merchantId === '' ? undefined : merchantId,
          subject: corrects ?? (to.ownerKind === 'bank' ? from.ownerId : to.ownerId),
          reason,
        },
        once,
      )
      const outcome = await move([{ from, to, amountMinor }], {
        ...{ act, kind: 'correction', merchantId, outside, corrects, isOnce: isOnce(once) },
      })
      if (outcome === 'moved') return act.auditId
      if (outcome === 'insufficient_funds') throw tooLittle(await available(from), from)
      if (outcome === 'not_held')
        throw new Failure('status_does_not_allow', {
          field: 'transferId',
          message: 'That late money goes back through its rail, or has gone: it is not held for an operator.',
        })
      const now = corrects && (await treasury.findCorrectable({ merchantId, transferId: corrects }))
      throw overCorrected(
        now || { transferId: corrects ?? '', currency, amountMinor: 0n, correctedMinor: 0n },
      )
    },
  }

  async function plan(correction: Correction) {
    const { corrects } = correction
    if (corrects === undefined) return planCorrection(correction, undefined)
    const merchantId = correction.kind === 'withdraw' ? '' : correction.merchantId
    const corrected = await treasury.findCorrectable({ merchantId, transferId: corrects })
    if (corrected) return planCorrection(correction, corrected)
    throw new Failure('invalid_field', {
      field: 'transferId',
      message: `There is no transfer ${corrects}${merchantId === '' ? ' that concerns no merchant' : ` of merchant ${merchantId}`}.`,
    })
  }

  function newAct(
    given: Pick<Act, 'act' | 'merchantId' | 'subject' | 'reason'>,
    { actId, approval }: Once,
  ): Act {
    const nowMs = clock.now()
    return { auditId: actId ?? makeUuid(nowMs, random), actedAtMs: nowMs, actor, approval, ...given }
  }

  async function move(moves: readonly Move[], given: MoveGiven): Promise<Exclude<MoveOutcome, 'unknown'>> {
    const { act, isOnce: isKnown } = given
    await treasury.openAccounts(moves.flatMap(({ from, to }) => [from, to]))
    const transfers = moves.map((each) =>
      transferOf(each, { ...given, transferId: makeTransactionId(act.actedAtMs, random) }),
    )
    // Whose act may have been carried out already: by an answer that was lost, or by a form that was sent twice.
    let isRepeated = isKnown
    for (let tries = 0; tries < maxTries; tries++) {
      if (isRepeated && (await treasury.isRecorded(act))) return 'moved'
      const outcome = await treasury.move(transfers, act).catch((error: unknown) => {
        // The other one came in between, and its entry is there now; or nobody knows.
        if (!isRepeated || error instanceof Failure) throw error
        return 'unknown' as const
      })
      if (outcome === 'moved') return outcome
      // The other one may have been first, and taken what is missing now.
      if (outcome !== 'unknown') return isRepeated && (await treasury.isRecorded(act)) ? 'moved' : outcome
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

interface Move {
  readonly from: AccountKey
  readonly to: AccountKey
  readonly amountMinor: bigint
}

interface MoveGiven extends Through {
  readonly act: Act
  readonly kind: 'top_up' | 'payout' | 'correction'
  readonly merchantId: string
  readonly corrects?: string | undefined
  readonly isOnce: boolean
}

function isOnce({ actId, approval }: Once): boolean {
  return actId !== undefined || approval !== undefined
}

function transferOf(
  { from, to, amountMinor }: Move,
  { act, kind, merchantId, outside, corrects, transferId }: MoveGiven & { readonly transferId: string },
): Transfer {
  const isOutside = from.ownerKind === 'bank' || to.ownerKind === 'bank'
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
    outside: isOutside ? outsideMark(outside, { transferId, nowMs: act.actedAtMs }) : undefined,
    corrects,
  }
}

/** What a transfer through a bank account bears. */
function outsideMark(
  { reference, valueDate }: Outside = throughMainBank,
  { transferId, nowMs }: { transferId: string; nowMs: number },
): OutsideMark {
  return {
    reference: reference ?? transferId,
    valueDate: valueDate ?? new Date(nowMs).toISOString().slice(0, 10),
  }
}

const owners = { merchant: 'The merchant’s wallet', wallet: 'The wallet', suspense: 'The suspense account' }

function tooLittle(leftMinor: bigint, { ownerKind, currency }: AccountKey): Failure {
  const owner = ownerKind in owners ? owners[ownerKind as keyof typeof owners] : 'The account'
  return new Failure('status_does_not_allow', {
    message: `${owner} has ${toDecimalText(leftMinor, currency)} ${currency}, which is too little.`,
  })
}
