// Corrections: one further transfer with actor and reason, carried out once.

import { Failure, makeTransactionId, toDecimalText } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { carryOutOnce, type Once } from '../../core/audit/carry-out-once.ts'
import type { AuditEntry } from '../../core/audit/rules/audit.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import type { AuditedAction } from '../../core/authority/rules/effects.ts'
import {
  type AccountKey,
  availableMinor,
  directTransfer,
  noBalances,
  type Transfer,
} from '../../core/ledger/rules/transfer.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { outsideMark } from './move-funds.ts'
import { type Correction, type CorrectionMove, overCorrected, planCorrection } from './rules/correction.ts'
import type { TreasuryStore } from './store/treasury.ts'

export interface CorrectBooksParts extends ClockAndRandom {
  readonly treasury: TreasuryStore
}

export type CorrectBooks = ReturnType<typeof makeCorrectBooks>

type Parts = CorrectBooksParts

export function makeCorrectBooks(parts: CorrectBooksParts) {
  return bindAll(parts, { correct })
}

async function correct(
  parts: Parts,
  context: AnyContext,
  correction: Correction,
  reason: string,
  once: Once = {},
): Promise<string> {
  const { treasury } = parts
  const move = await plan(parts, correction).catch(async (error: unknown) => {
    // In a repeated request there is less to correct because the first one succeeded.
    if (once.idempotencyKey !== undefined && (await treasury.recordedAt(once.idempotencyKey)) !== undefined)
      return undefined
    throw error
  })
  if (!move) return once.idempotencyKey ?? ''
  const entry = actOf(parts, context, correction, move, { reason, once })
  const transfer = transferOf(parts, correction, move, entry)
  const outcome = await carryOutOnce(entry, once, {
    isRecorded: treasury.isRecorded,
    async attempt() {
      await treasury.openAccounts([move.from, move.to])
      const moved = await treasury.move([transfer], entry)
      return moved === 'moved' ? 'done' : moved
    },
  })
  if (outcome === 'done') return entry.auditId
  throw await whyNot(parts, outcome, correction, move)
}

async function plan({ treasury }: Parts, correction: Correction): Promise<CorrectionMove> {
  const { corrects } = correction
  if (corrects === undefined) return planCorrection(correction, undefined)
  const merchantId = 'merchantId' in correction ? correction.merchantId : ''
  const corrected = await treasury.findCorrectable({ merchantId, transferId: corrects })
  if (corrected) return planCorrection(correction, corrected)
  throw new Failure('invalid_field', {
    field: 'transferId',
    message: `Transfer ${corrects}${merchantId === '' ? ' without a merchant' : ` of merchant ${merchantId}`} does not exist.`,
  })
}

function actOf(
  parts: Parts,
  context: AnyContext,
  { kind, corrects }: Correction,
  { merchantId, from, to }: CorrectionMove,
  { reason, once }: { readonly reason: string; readonly once: Once },
): AuditEntry {
  const subject = corrects ?? (to.ownerKind === 'bank' ? from.ownerId : to.ownerId)
  return makeAuditEntry(parts, context, actionOf[kind], subject, {
    merchantId: merchantId === '' ? undefined : merchantId,
    reason,
    auditId: once.idempotencyKey,
  })
}

function transferOf(
  { random }: Parts,
  correction: Correction,
  { merchantId, from, to }: CorrectionMove,
  entry: AuditEntry,
): Transfer {
  const { amountMinor, corrects, outside } = correction
  const { actedAtMs: nowMs, auditId } = entry
  const transferId = makeTransactionId(nowMs, random)
  const isOutside = from.ownerKind === 'bank' || to.ownerKind === 'bank'
  return directTransfer({
    merchantId,
    transferId,
    kind: 'correction',
    from,
    to,
    amountMinor,
    auditId,
    madeAtMs: nowMs,
    outside: isOutside ? outsideMark(outside, { transferId, nowMs }) : undefined,
    corrects,
  })
}

async function whyNot(
  parts: Parts,
  outcome: string,
  { corrects, currency }: Correction,
  { merchantId, from }: CorrectionMove,
): Promise<Failure> {
  if (outcome === 'insufficient_funds') return tooLittle(await available(parts, from), from)
  if (outcome === 'not_held')
    return new Failure('status_does_not_allow', {
      field: 'transferId',
      message: 'This late money is being returned through its rail, or was returned.',
    })
  const transferId = corrects ?? ''
  const now = await parts.treasury.findCorrectable({ merchantId, transferId })
  return overCorrected(now ?? { transferId, currency, amountMinor: 0n, correctedMinor: 0n })
}

async function available({ treasury }: Parts, key: AccountKey): Promise<bigint> {
  const accounts = await treasury.listAccounts(key)
  return availableMinor(accounts.find(({ currency }) => currency === key.currency) ?? noBalances)
}

const actionOf = {
  fund: 'correction.fund',
  withdraw: 'correction.withdraw',
  reverse: 'correction.reverse',
  release: 'correction.release',
  write_off: 'correction.write-off',
  difference: 'correction.difference',
} as const satisfies Record<Correction['kind'], AuditedAction>

const owners = {
  merchant: 'The merchant’s balance',
  wallet: 'The wallet’s balance',
  suspense: 'The suspense balance',
}

function tooLittle(leftMinor: bigint, { ownerKind, currency }: AccountKey): Failure {
  const owner = ownerKind in owners ? owners[ownerKind as keyof typeof owners] : 'The account’s balance'
  return new Failure('status_does_not_allow', {
    message: `${owner} is only ${toDecimalText(leftMinor, currency)} ${currency}.`,
  })
}
