// Records bank entries by operators: money received for an order, money sent back, refunds sent. Each decision
// commits the entry, order, books, callbacks and audit entry together.

import {
  Failure,
  makeCallbackId,
  makeTransactionId,
  paymentIdPattern,
  toDecimalText,
} from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { AuditEntry } from '../../core/audit/rules/audit.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import type { CurrentOrder } from '../../core/orders/current-order.ts'
import type { PriceDirectory } from '../../core/orders/fees/price-directory.ts'
import { settleRefund } from '../../core/orders/refunds/rules/refund.ts'
import type { RefundStore } from '../../core/orders/refunds/store/refunds.ts'
import type { Order, OrderKey } from '../../core/orders/rules/order.ts'
import type { OrderStore } from '../../core/orders/store/orders.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { withoutSpaces } from '../treasury/rules/mod-97.ts'
import {
  checkUsable,
  checkValueDate,
  type BankAccount as OwnBankAccount,
  whyNotUsable,
} from '../treasury/rules/operator-bank-account.ts'
import type { BankAccountStore } from '../treasury/store/bank-accounts.ts'
import { type BankEntry, decideEntry, heldMinor, type TransferEntry } from './rules/bank-transfer.ts'
import { type BankAccount, creditorReference, isCreditorReference } from './rules/transfer-account.ts'
import type { RailAttemptStore } from './store/rail-attempts.ts'
import { RailRaceLost } from './store/rail-outcomes.ts'
import type { RailStore } from './store/rails.ts'
import type { RecordedTransfer, TransferEntryStore } from './store/transfer-entries.ts'

export interface RecordTransfersParts extends ClockAndRandom {
  readonly transferEntries: TransferEntryStore
  readonly attempts: Pick<RailAttemptStore, 'findAttempt' | 'listAttempts'>
  readonly rails: Pick<RailStore, 'findRail'>
  readonly orders: Pick<OrderStore, 'findOrder'>
  readonly refunds: Pick<RefundStore, 'findRefund'>
  readonly currentOrder: CurrentOrder
  readonly bankAccounts: Pick<BankAccountStore, 'listBanks'>
  readonly prices: Pick<PriceDirectory, 'current'>
  readonly log: Log
}

interface BankEntryAndReason extends BankEntry {
  readonly reason: string
}

export interface Receipt extends BankEntryAndReason {
  /** The consumer's reference, or the order's paymentId. */
  readonly reference: string
  readonly currency: string
  readonly amountMinor: bigint
}

export interface TransferOutcome {
  readonly order: Order
  /** The order's money in suspense. */
  readonly heldMinor: bigint
  readonly entries: readonly TransferEntry[]
}

/** Each lost race is another committed entry or a changed order, so tries are bounded. */
const maxDecisions = 100

export type RecordTransfers = ReturnType<typeof makeRecordTransfers>

type Parts = RecordTransfersParts

export function makeRecordTransfers(parts: RecordTransfersParts) {
  return bindAll(parts, {
    confirmTransfer,
    findTransfer,
    findPaidBy,
    returnTransfer,
    settleRefund: recordSentRefund,
  })
}

/** Pays the order if there is enough; otherwise the money stays in suspense. */
async function confirmTransfer(
  parts: Parts,
  context: AnyContext,
  railId: string,
  receipt: Receipt,
): Promise<TransferOutcome> {
  const account = await accountOf(parts, railId)
  const { outsideReference, amountMinor, reason } = receipt
  return decided(parts, railId, outsideReference, async () => {
    const key = await paidBy(parts, railId, receipt)
    const auditEntry = makeAuditEntry(parts, context, 'transfer.confirm', key.paymentId, {
      merchantId: key.merchantId,
      reason,
    })
    const { order, entries } = await load(parts, key, auditEntry.actedAtMs)
    checkCurrency(order, receipt)
    const entry = await entryOf(parts, { order, entries, auditEntry, railId, account }, receipt, {
      direction: 'in',
      amountMinor,
    })
    return booked(parts, { order, entries, account, auditEntry }, entry)
  })
}

/** The order that a reference names. */
async function findPaidBy(
  parts: Parts,
  _context: AnyContext,
  railId: string,
  reference: string,
): Promise<OrderKey> {
  const { merchantId, paymentId } = await paidBy(parts, railId, { reference })
  return { merchantId, paymentId }
}

/** Undefined if the entry is not recorded. */
async function findTransfer(
  parts: Parts,
  _context: AnyContext,
  railId: string,
  outsideReference: string,
): Promise<TransferOutcome | undefined> {
  const entry = await parts.transferEntries.findEntry(railId, outsideReference)
  if (!entry) return undefined
  const { order, entries } = await load(parts, entry)
  return { order, heldMinor: heldMinor(order, railId, entries), entries }
}

/** An order's money in suspense was sent back to its sender. */
async function returnTransfer(
  parts: Parts,
  context: AnyContext,
  railId: string,
  key: OrderKey,
  { amount, ...sent }: BankEntryAndReason & { readonly amount: (order: Order) => bigint },
): Promise<TransferOutcome> {
  const account = await accountOf(parts, railId)
  return decided(parts, railId, sent.outsideReference, async () => {
    const auditEntry = makeAuditEntry(parts, context, 'transfer.return', key.paymentId, {
      ...key,
      reason: sent.reason,
    })
    const { order, entries } = await load(parts, key, auditEntry.actedAtMs)
    const amountMinor = amount(order)
    const held = heldMinor(order, railId, entries)
    if (amountMinor > held)
      throw wrong(
        'amount',
        `Only ${toDecimalText(held, order.currency)} ${order.currency} of this order is in suspense.`,
      )
    const entry = await entryOf(parts, { order, entries, auditEntry, railId, account }, sent, {
      direction: 'out',
      amountMinor,
    })
    return booked(parts, { order, entries, account, auditEntry }, entry)
  })
}

/** Records that a refund by bank transfer was sent, or, without a bank entry, that it cannot be sent. */
async function recordSentRefund(
  parts: Parts,
  context: AnyContext,
  { merchantId, refundId }: { readonly merchantId: string; readonly refundId: string },
  given: { readonly sent: BankEntry | undefined; readonly reason: string },
): Promise<TransferOutcome> {
  const found = (await parts.refunds.findRefund({ merchantId, refundId })) ?? noRefund(refundId)
  const { railId = '' } = (await load(parts, found)).order
  const account = await accountOf(parts, railId, `Refund ${refundId} is not paid by bank transfer.`)
  return decided(parts, railId, given.sent?.outsideReference, async () => {
    const refund = (await parts.refunds.findRefund({ merchantId, refundId })) ?? noRefund(refundId)
    if (refund.status !== 'refunding')
      throw new Failure('status_does_not_allow', { message: `The refund is already ${refund.status}.` })
    if (refund.transactionId === undefined)
      throw new Failure('status_does_not_allow', {
        message: 'The merchant’s balance is too low, so this refund fails automatically. Do not send money.',
      })
    const auditEntry = makeAuditEntry(parts, context, 'transfer.settle-refund', refundId, {
      merchantId,
      reason: given.reason,
      // A sent refund was already approved; a failed one returns the money to the merchant.
      ...(given.sent && { effects: [] }),
    })
    const nowMs = auditEntry.actedAtMs
    const { order, entries } = await load(parts, refund, nowMs)
    const { transferId, callbackIds } = makeIds(parts, nowMs)
    const final = given.sent
      ? ({ kind: 'approved' } as const)
      : ({ kind: 'declined', reason: given.reason } as const)
    const change = settleRefund({ order, refund }, final, {
      transferId,
      callbackId: callbackIds[1],
      nowMs,
    })
    const { amountMinor } = refund
    const entry = given.sent && {
      ...(await entryOf(parts, { order, entries, auditEntry, railId, account }, given.sent, {
        direction: 'out',
        amountMinor,
      })),
      refundId,
      transferId,
    }
    return { order, entry, auditEntry, refund: change, endsTask: refundId }
  })
}

async function booked(
  parts: Parts,
  of: { order: Order; entries: readonly TransferEntry[]; account: BankAccount; auditEntry: AuditEntry },
  entry: TransferEntry,
): Promise<RecordedTransfer> {
  const { auditEntry, order } = of
  const attempt = await openAttemptAt(parts, entry.railId, order)
  const ids = { ...makeIds(parts, auditEntry.actedAtMs), prices: await parts.prices.current() }
  const decision = decideEntry({ ...of, attempt }, entry, ids)
  const endsTask = decision.isOver ? attempt?.transactionId : undefined
  return { order, entry, auditEntry, decision, before: attempt && { order, attempt }, endsTask }
}

/** The attempt may have no reference yet, so it is found by its order. */
async function openAttemptAt(parts: Parts, railId: string, { merchantId, openAttempt }: Order) {
  if (openAttempt === undefined) return undefined
  const attempt = await parts.attempts.findAttempt({ merchantId, transactionId: openAttempt })
  return attempt?.railId === railId ? attempt : undefined
}

/** Decides and commits; after a lost race, decides again. */
async function decided(
  parts: Parts,
  railId: string,
  outsideReference: string | undefined,
  decide: () => Promise<RecordedTransfer>,
): Promise<TransferOutcome> {
  for (let tries = 1; ; tries++) {
    const recorded = await decide()
    try {
      if (!(await parts.transferEntries.record(recorded)))
        return await refuseRecorded(parts, railId, outsideReference ?? '')
      const alert = recorded.decision?.alert
      const { merchantId, paymentId } = recorded.order
      if (alert !== undefined) parts.log.warn({ worker: 'ask-rails', merchantId, paymentId, railId }, alert)
      const { order, entries } = await load(parts, recorded.order)
      return { order, heldMinor: heldMinor(order, railId, entries), entries }
    } catch (error) {
      if (!(error instanceof RailRaceLost)) throw error
      if (tries === maxDecisions) throw new Failure('unavailable', { retryAfterSeconds: 1 })
    }
  }
}

async function refuseRecorded(
  { transferEntries }: Parts,
  railId: string,
  outsideReference: string,
): Promise<never> {
  const known = await transferEntries.findEntry(railId, outsideReference)
  throw new Failure('number_already_used', {
    field: 'outsideReference',
    message: `This bank entry was already recorded for order ${known?.paymentId}. Use the reference of another entry.`,
  })
}

async function accountOf(parts: Parts, railId: string, message?: string): Promise<BankAccount> {
  const account = (await parts.rails.findRail(railId))?.rail.account
  if (account) return account
  throw new Failure('not_found', { message: message ?? `Rail ${railId} for bank transfers does not exist.` })
}

/** Reads the order as of the time of the decision, so that an order that expires at this moment is not paid. */
async function load(parts: Parts, key: OrderKey, nowMs = parts.clock.now()) {
  const stored = await parts.orders.findOrder(key)
  if (!stored) throw new Failure('order_not_found')
  const order = await parts.currentOrder(stored, nowMs)
  return { order, entries: await parts.transferEntries.listEntries(key) }
}

async function paidBy(
  parts: Parts,
  railId: string,
  { reference }: Pick<Receipt, 'reference'>,
): Promise<OrderKey> {
  const [found] = await parts.transferEntries.findAttempts(railId, referenceOf(reference))
  return found ?? noPayment(reference)
}

async function bankOf(
  parts: Parts,
  { bankName }: BankEntry,
  { iban }: BankAccount,
  currency: string,
): Promise<string | undefined> {
  const banks = await parts.bankAccounts.listBanks()
  if (bankName === undefined) {
    const isIts = (bank: OwnBankAccount) =>
      bank.iban !== undefined && bank.iban === iban && whyNotUsable(bank, currency) === undefined
    return banks.find(isIts)?.bankName
  }
  const given = banks.find((bank) => bank.bankName === bankName)
  checkUsable(given, bankName, currency)
  return bankName
}

async function entryOf(
  parts: Parts,
  of: {
    order: Order
    entries: readonly TransferEntry[]
    auditEntry: AuditEntry
    railId: string
    account: BankAccount
  },
  booked: BankEntry,
  { direction, amountMinor }: { direction: TransferEntry['direction']; amountMinor: bigint },
): Promise<TransferEntry> {
  const { outsideReference, valueDate, party } = booked
  const { merchantId, paymentId, currency } = of.order
  const { auditId, actedAtMs: recordedAtMs } = of.auditEntry
  checkBooked(valueDate, recordedAtMs)
  return {
    railId: of.railId,
    outsideReference,
    merchantId,
    paymentId,
    ordinal: of.entries.length + 1,
    direction,
    transferId: makeTransactionId(recordedAtMs, parts.random),
    refundId: undefined,
    amountMinor,
    currency,
    valueDate,
    party,
    auditId,
    recordedAtMs,
    bankName: await bankOf(parts, booked, of.account, currency),
  }
}

function makeIds({ random }: Parts, nowMs: number) {
  return {
    transferId: makeTransactionId(nowMs, random),
    returnId: makeTransactionId(nowMs, random),
    applyId: makeTransactionId(nowMs, random),
    callbackIds: [makeCallbackId(nowMs, random), makeCallbackId(nowMs + 1, random)],
    nowMs,
  } as const
}

/** Accepts any notation, and the order's paymentId. */
export function referenceOf(written: string): string {
  const reference = withoutSpaces(written)
  if (paymentIdPattern.test(reference)) return creditorReference(reference)
  if (isCreditorReference(reference)) return reference
  throw wrong(
    'reference',
    'This is not a valid creditor reference. Compare it with the bank’s entry, or enter the paymentId.',
  )
}

function checkCurrency(order: Order, { currency }: Receipt): void {
  if (currency !== order.currency)
    throw wrong('currency', `The order is in ${order.currency}. Check the reference.`)
}

const dayMs = 86_400_000

function checkBooked(valueDate: string, nowMs: number): void {
  checkValueDate(valueDate)
  if (Date.parse(`${valueDate}T00:00:00Z`) > nowMs + dayMs)
    throw wrong('valueDate', 'The value date is in the future. Use the date on the bank statement.')
}

function noPayment(reference: string): never {
  throw new Failure('not_found', {
    field: 'reference',
    message: `This rail has no payment with the reference ${reference}. Compare the reference with the bank’s entry.`,
  })
}

function noRefund(refundId: string): never {
  throw new Failure('not_found', { message: `This merchant has no refund ${refundId}.` })
}

function wrong(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}
