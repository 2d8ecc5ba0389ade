// Corrections: one further transfer that puts another one right, with who did it and why, and once only.
import { Failure, makeTransactionId, makeUuid, toDecimalText } from '@tillgate/protocol'
import {
  type AccountKey,
  accountIdOf,
  availableMinor,
  noBalances,
  type Transfer,
} from '../ledger/rules/transfer.ts'
import { carryOutOnce, type Once } from '../operators/carry-out-once.ts'
import type { Act } from '../operators/rules/audit.ts'
import type { ClockAndRandom } from '../platform/clock.ts'
import { outsideMark } from './move-funds.ts'
import { type Correction, type CorrectionMove, overCorrected, planCorrection } from './rules/correction.ts'
import { mayBeOverdrawn, type TreasuryStore } from './store/treasury.ts'

export interface CorrectBooksParts extends ClockAndRandom {
  readonly treasury: TreasuryStore
  readonly actor: string
}

export type CorrectBooks = ReturnType<typeof makeCorrectBooks>

export function makeCorrectBooks({ treasury, clock, random, actor }: CorrectBooksParts) {
  return {
    /** Throws where it does not fit what it corrects now, or there is too little money. */
    async checkCorrection(correction: Correction): Promise<void> {
      const { from } = await plan(correction)
      const left = await available(from)
      const isBounded = !mayBeOverdrawn(from.ownerKind)
      if (isBounded && left < correction.amountMinor) throw tooLittle(left, from)
    },

    /** The number of its act. */
    async correct(correction: Correction, reason: string, once: Once = {}): Promise<string> {
      const move = await plan(correction).catch(async (error: unknown) => {
        // Sent again: there is less to correct because it was done.
        if (once.actId !== undefined && (await treasury.recordedAt(once.actId)) !== undefined)
          return undefined
        throw error
      })
      if (!move) return once.actId ?? ''
      const act = actOf(correction, move, { reason, once })
      const transfer = transferOf(correction, move, act)
      const outcome = await carryOutOnce(act, once, {
        isRecorded: treasury.isRecorded,
        async attempt() {
          await treasury.openAccounts([move.from, move.to])
          const moved = await treasury.move([transfer], act)
          return moved === 'moved' ? 'done' : moved
        },
      })
      if (outcome === 'done') return act.auditId
      throw await whyNot(outcome, correction, move)
    },
  }

  async function plan(correction: Correction): Promise<CorrectionMove> {
    const { corrects } = correction
    if (corrects === undefined) return planCorrection(correction, undefined)
    const merchantId = 'merchantId' in correction ? correction.merchantId : ''
    const corrected = await treasury.findCorrectable({ merchantId, transferId: corrects })
    if (corrected) return planCorrection(correction, corrected)
    throw new Failure('invalid_field', {
      field: 'transferId',
      message: `There is no transfer ${corrects}${merchantId === '' ? ' that concerns no merchant' : ` of merchant ${merchantId}`}.`,
    })
  }

  function actOf(
    { kind, corrects }: Correction,
    { merchantId, from, to }: CorrectionMove,
    { reason, once }: { readonly reason: string; readonly once: Once },
  ): Act {
    const nowMs = clock.now()
    return {
      // Whoever asked for it under an id finds it by that, also after a second operator's yes.
      auditId:
        once.actId ??
        (kind === 'difference' ? once.approval?.approvalId : undefined) ??
        makeUuid(nowMs, random),
      actedAtMs: nowMs,
      actor,
      act: `correction.${kind.replace('_', '-')}`,
      merchantId: merchantId === '' ? undefined : merchantId,
      subject: corrects ?? (to.ownerKind === 'bank' ? from.ownerId : to.ownerId),
      reason,
      approval: once.approval,
    }
  }

  function transferOf(correction: Correction, { merchantId, from, to }: CorrectionMove, act: Act): Transfer {
    const { amountMinor, corrects, outside } = correction
    const { actedAtMs: nowMs, auditId } = act
    const transferId = makeTransactionId(nowMs, random)
    const isOutside = from.ownerKind === 'bank' || to.ownerKind === 'bank'
    return {
      merchantId,
      transferId,
      kind: 'correction',
      phase: 'direct',
      holdId: undefined,
      debitAccountId: accountIdOf(from),
      creditAccountId: accountIdOf(to),
      currency: from.currency,
      amountMinor,
      paymentId: undefined,
      refundId: undefined,
      auditId,
      madeAtMs: nowMs,
      outside: isOutside ? outsideMark(outside, { transferId, nowMs }) : undefined,
      corrects,
    }
  }

  async function whyNot(
    outcome: string,
    { corrects, currency }: Correction,
    { merchantId, from }: CorrectionMove,
  ): Promise<Failure> {
    if (outcome === 'insufficient_funds') return tooLittle(await available(from), from)
    if (outcome === 'not_held')
      return new Failure('status_does_not_allow', {
        field: 'transferId',
        message: 'That late money goes back through its rail, or has gone: it is not held for an operator.',
      })
    const transferId = corrects ?? ''
    const now = await treasury.findCorrectable({ merchantId, transferId })
    return overCorrected(now ?? { transferId, currency, amountMinor: 0n, correctedMinor: 0n })
  }

  async function available(key: AccountKey): Promise<bigint> {
    const accounts = await treasury.listAccounts(key)
    return availableMinor(accounts.find(({ currency }) => currency === key.currency) ?? noBalances)
  }
}

const owners = { merchant: 'The merchant’s wallet', wallet: 'The wallet', suspense: 'The suspense account' }

function tooLittle(leftMinor: bigint, { ownerKind, currency }: AccountKey): Failure {
  const owner = ownerKind in owners ? owners[ownerKind as keyof typeof owners] : 'The account'
  return new Failure('status_does_not_allow', {
    message: `${owner} has ${toDecimalText(leftMinor, currency)} ${currency}, which is too little.`,
  })
}
