// The operator's own money: opening balances, deposits, withdrawals and fee sweeps, each one action with reason and
// reference, carried out once.

import { Failure, makeTransactionId, toDecimalText } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { carryOutOnce, type Once } from '../../core/audit/carry-out-once.ts'
import type { AuditEntry } from '../../core/audit/rules/audit.ts'
import { type AnyContext, reading } from '../../core/authority/context.ts'
import type { AuditedAction } from '../../core/authority/rules/effects.ts'
import {
  type AccountKey,
  bankAccount,
  directTransfer,
  equityAccount,
  feesAccount,
  type Transfer,
} from '../../core/ledger/rules/transfer.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { utcDay } from '../../platform/runtime/utc.ts'
import { outsideMark } from './move-funds.ts'
import {
  checkEquity,
  checkOwn,
  maxSweptMerchants,
  type OwnKind,
  planOwnMove,
  planSweep,
  withoutBlanks,
} from './rules/own-money.ts'
import type { MoveOutcome, TreasuryStore } from './store/treasury.ts'

export interface MoveOwnMoneyParts extends ClockAndRandom {
  readonly treasury: TreasuryStore
}

export interface OwnGiven {
  readonly bankName: string
  readonly currency: string
  /** A negative opening balance is an overdrawn account. */
  readonly amountMinor: bigint
  /** Defaults to the transfer's id. */
  readonly reference?: string | undefined
  /** Defaults to today. An opening balance applies at the start of this day. */
  readonly valueDate?: string | undefined
}

export interface SweepGiven extends Omit<OwnGiven, 'amountMinor'> {
  /** Defaults to all. */
  readonly amountMinor: bigint | undefined
  /** The bank account that holds the money, if it moves to `bankName`. */
  readonly fromBankName?: string | undefined
}

export interface OwnMoved {
  /** Through a bank account; undefined if no money moved at a bank. */
  readonly transferId: string | undefined
  /** Undefined for a sweep that an earlier request with the same id made. */
  readonly amountMinor: bigint | undefined
  /** The time of the earlier request, if this one is a repetition. */
  readonly doneBeforeMs?: number | undefined
}

type Refusal = Exclude<MoveOutcome, 'moved' | 'unknown'>

export type MoveOwnMoney = ReturnType<typeof makeMoveOwnMoney>

type Parts = MoveOwnMoneyParts

export function makeMoveOwnMoney(parts: MoveOwnMoneyParts) {
  const { treasury } = parts
  return {
    ownMoney: reading(treasury.readOwnMoney),
    deposit: (context: AnyContext, given: OwnGiven, reason: string, once: Once = {}): Promise<OwnMoved> =>
      moveOnce(parts, context, 'owner_deposit', given, { reason, once }),
    ...bindAll(parts, { setOpeningBalance, withdraw, sweepFees }),
  }
}

async function setOpeningBalance(
  parts: Parts,
  context: AnyContext,
  given: OwnGiven,
  reason: string,
  once: Once = {},
): Promise<OwnMoved> {
  const { bankName, currency, valueDate = today(parts) } = given
  if (valueDate > today(parts))
    throw invalid('day', `${valueDate} is in the future. Enter a day up to ${today(parts)} (UTC).`)
  return moveOnce(
    parts,
    context,
    'opening_balance',
    { ...given, valueDate },
    { reason, once },
    async (outcome) => {
      if (outcome === 'opened_before')
        return new Failure('status_does_not_allow', {
          message: `The bank account ${bankName} already has an opening balance in ${currency}. Reverse that transfer first, then set the opening balance again.`,
        })
      const first = await parts.treasury.firstStatementDay(bankName, currency)
      return invalid(
        'day',
        `The first statement of bank:${bankName} in ${currency} begins on ${first}. Enter the balance with which that day began.`,
      )
    },
  )
}

async function withdraw(
  parts: Parts,
  context: AnyContext,
  given: OwnGiven,
  reason: string,
  once: Once = {},
): Promise<OwnMoved> {
  const { currency, amountMinor } = given
  const check = async () => {
    const own = await parts.treasury.readOwnMoney(currency)
    checkEquity(own, { currency, amountMinor })
    checkOwn(own, { currency, amountMinor })
  }
  if (!(await doneBefore(parts, once))) await check()
  const out = { ...given, amountMinor: -amountMinor }
  const moved = await moveOnce(parts, context, 'owner_withdrawal', out, { reason, once }, async () => {
    await check()
    return new Failure('unavailable', { retryAfterSeconds: 1, message: 'Equity changed. Try again.' })
  })
  return { ...moved, amountMinor }
}

/**
 * Fees become equity. The money moves between banks only if `fromBankName` differs from `bankName`; then both
 * statements show it.
 */
async function sweepFees(
  parts: Parts,
  context: AnyContext,
  given: SweepGiven,
  reason: string,
  once: Once = {},
): Promise<OwnMoved> {
  const before = await doneBefore(parts, once)
  if (before) return before
  const { bankName, currency, fromBankName = bankName } = given
  const isMoved = fromBankName !== bankName
  const [own, fees] = [
    await parts.treasury.readOwnMoney(currency),
    await parts.treasury.listFees(currency, maxSweptMerchants),
  ]
  const swept = planSweep(fees, { currency, wantedMinor: given.amountMinor })
  const amountMinor = swept.reduce((sum, { minor }) => sum + minor, 0n)
  if (isMoved) checkOwn(own, { currency, amountMinor })
  const entry = makeAuditEntry(parts, context, 'bank.sweep-fees', bankName, {
    reason: `${toDecimalText(amountMinor, currency)} ${currency}${isMoved ? ` from ${fromBankName}` : ''}: ${reason}`,
    auditId: once.idempotencyKey,
    ...(!isMoved && { effects: ['credits the operator'] }),
  })
  const equity = equityAccount(currency)
  const [from, to] = [bankAccount(fromBankName, currency), bankAccount(bankName, currency)]
  const legs = swept.map(({ merchantId, minor }) =>
    transferOf(parts, 'fee_sweep', {
      merchantId,
      from: feesAccount(merchantId, currency),
      to: equity,
      minor,
      entry,
    }),
  )
  // Money received by a bank account is a debit there.
  const moved = { merchantId: '', from: to, to: from, minor: amountMinor, entry }
  const bankLeg = isMoved ? [marked(transferOf(parts, 'fee_sweep', moved), given)] : []
  const { outcome, isOurs } = await carryOut(parts, [...legs, ...bankLeg], {
    entry,
    once,
    accounts: [equity, from, to],
  })
  if (outcome !== 'done')
    throw new Failure('status_does_not_allow', {
      message: 'Refunds took back some of these fees at the same moment. Nothing was swept. Try again.',
    })
  return {
    transferId: await transferIdOf(parts, entry.auditId),
    amountMinor: isOurs ? amountMinor : undefined,
  }
}

/** Between a bank account and one other account. */
async function moveOnce(
  parts: Parts,
  context: AnyContext,
  kind: keyof typeof actNames,
  given: OwnGiven,
  { reason, once }: { readonly reason: string; readonly once: Once },
  whyNot?: (refusal: Refusal) => Promise<Failure>,
): Promise<OwnMoved> {
  const before = await doneBefore(parts, once)
  if (before) return { ...before, amountMinor: given.amountMinor }
  const { bankName, currency } = given
  const { from, to, amountMinor } = planOwnMove({ ...given, kind })
  const entry = makeAuditEntry(parts, context, actNames[kind], bankName, {
    reason: `${toDecimalText(given.amountMinor, currency)} ${currency}: ${reason}`,
    auditId: once.idempotencyKey,
  })
  const transfer = transferOf(parts, kind, { from, to, minor: amountMinor, merchantId: '', entry })
  const { outcome } = await carryOut(parts, [marked(transfer, given)], { entry, once, accounts: [from, to] })
  if (outcome === 'done')
    return { transferId: await transferIdOf(parts, entry.auditId), amountMinor: given.amountMinor }
  throw (await whyNot?.(outcome)) ?? new Error(`own money was refused: ${outcome}`)
}

/** `isOurs`: known to be done by this call, not by an earlier one with the same id. */
async function carryOut(
  { treasury }: Parts,
  transfers: readonly Transfer[],
  { entry, once, accounts }: { entry: AuditEntry; once: Once; accounts: readonly AccountKey[] },
): Promise<{ outcome: 'done' | Refusal; isOurs: boolean }> {
  let isOurs = false
  const outcome = await carryOutOnce<Refusal>(entry, once, {
    isRecorded: treasury.isRecorded,
    async attempt() {
      await treasury.openAccounts(accounts)
      const moved = await treasury.move(transfers, entry)
      isOurs = moved === 'moved'
      return moved === 'moved' ? 'done' : moved
    },
  })
  return { outcome, isOurs }
}

async function doneBefore(parts: Parts, { idempotencyKey }: Once): Promise<OwnMoved | undefined> {
  const doneBeforeMs =
    idempotencyKey === undefined ? undefined : await parts.treasury.recordedAt(idempotencyKey)
  if (idempotencyKey === undefined || doneBeforeMs === undefined) return undefined
  return { transferId: await transferIdOf(parts, idempotencyKey), amountMinor: undefined, doneBeforeMs }
}

async function transferIdOf({ treasury }: Parts, auditId: string): Promise<string | undefined> {
  const madeAtMs = await treasury.recordedAt(auditId)
  return madeAtMs === undefined ? undefined : treasury.findOwnTransfer({ auditId, madeAtMs })
}

function transferOf(
  { random }: Parts,
  kind: Transfer['kind'],
  given: { from: AccountKey; to: AccountKey; minor: bigint; merchantId: string; entry: AuditEntry },
): Transfer {
  const { from, to, minor, merchantId, entry } = given
  return directTransfer({
    merchantId,
    transferId: makeTransactionId(entry.actedAtMs, random),
    kind,
    from,
    to,
    amountMinor: minor,
    auditId: entry.auditId,
    madeAtMs: entry.actedAtMs,
  })
}

function marked(
  transfer: Transfer,
  { bankName, reference, valueDate }: Pick<OwnGiven, 'bankName' | 'reference' | 'valueDate'>,
): Transfer {
  const { transferId, madeAtMs: nowMs } = transfer
  const outside = { bankName, reference: withoutBlanks(reference), valueDate }
  return { ...transfer, outside: outsideMark(outside, { transferId, nowMs }) }
}

function today({ clock }: Parts): string {
  return utcDay(clock.now())
}

const actNames = {
  opening_balance: 'bank.opening-balance',
  owner_deposit: 'bank.deposit',
  owner_withdrawal: 'bank.withdraw',
} as const satisfies Partial<Record<OwnKind, AuditedAction>>

function invalid(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}
