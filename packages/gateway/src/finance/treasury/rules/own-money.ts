// The operator's own money: which accounts an opening balance, a deposit, a withdrawal, a bank charge and interest move, and
// which fees a sweep takes. Own money at a bank is `equity`; fees become equity when they are swept.
import assert from 'node:assert/strict'
import { Failure, toDecimalText } from '@tillgate/protocol'
import {
  type AccountKey,
  type AccountOwner,
  bankAccount,
  bankChargesAccount,
  equityAccount,
  interestAccount,
  type OwnTransferKind,
} from '../../../core/ledger/rules/transfer.ts'

/** Those that move one bank account. */
export type OwnKind = Exclude<OwnTransferKind, 'fee_sweep'>

export interface OwnMovement {
  readonly kind: OwnKind
  readonly bankName: string
  readonly currency: string
  /** As the bank account sees it: above zero came in. */
  readonly amountMinor: bigint
}

export interface OwnMove {
  readonly from: AccountKey
  readonly to: AccountKey
  readonly amountMinor: bigint
}

export function planOwnMove({ kind, bankName, currency, amountMinor }: OwnMovement): OwnMove {
  assert(amountMinor !== 0n, 'own money moves by more than nothing')
  assert(kind !== 'owner_deposit' || amountMinor > 0n, 'a deposit comes in')
  assert(kind !== 'owner_withdrawal' || amountMinor < 0n, 'a withdrawal goes out')
  const bank = bankAccount(bankName, currency)
  const other = otherSide(kind, bankName, currency)
  return amountMinor > 0n
    ? { from: bank, to: other, amountMinor }
    : { from: other, to: bank, amountMinor: -amountMinor }
}

function otherSide(kind: OwnKind, bankName: string, currency: string): AccountKey {
  if (kind === 'bank_charge') return bankChargesAccount(bankName, currency)
  return kind === 'interest' ? interestAccount(bankName, currency) : equityAccount(currency)
}

/** Their sum is what is left of the money at banks and rails when consumers and merchants have theirs. */
export const ownKinds = [
  'equity',
  'fees',
  'interest',
  'bank_charges',
  'rail_fees',
  'write_off',
] as const satisfies readonly AccountOwner['ownerKind'][]

export interface OwnMoney {
  readonly equityMinor: bigint
  /** Of all merchants whose fees are above zero. */
  readonly feesMinor: bigint
  /** Equity, fees and interest, less costs and losses. */
  readonly ownMinor: bigint
}

/** Throws where the owner would take out more than equity has. */
export function checkEquity({ equityMinor }: OwnMoney, { currency, amountMinor }: Wanted): void {
  if (amountMinor > equityMinor)
    throw tooMuch(
      `Equity has ${toDecimalText(equityMinor, currency)} ${currency}. Sweep fees first, or withdraw less.`,
    )
}

/** Throws where more would leave than is the operator's own after costs: the rest belongs to consumers and merchants. */
export function checkOwn({ ownMinor }: OwnMoney, { currency, amountMinor }: Wanted): void {
  if (amountMinor <= ownMinor) return
  const left = ownMinor > 0n ? `${toDecimalText(ownMinor, currency)} ${currency}` : 'nothing'
  throw tooMuch(
    `After costs and losses, ${left} of the money at banks and rails is your own. The rest belongs to consumers and merchants.`,
  )
}

interface Wanted {
  readonly currency: string
  readonly amountMinor: bigint
}

export interface FeesOf {
  readonly merchantId: string
  /** Above zero. */
  readonly minor: bigint
}

/** The fees of more merchants are for the next sweep: one transaction holds all of their accounts. */
export const maxSweptMerchants = 2_000

/**
 * What is taken of whose fees, the largest first. Everything there is unless `wantedMinor` says otherwise; throws where that
 * is more than there is.
 */
export function planSweep(
  fees: readonly FeesOf[],
  { currency, wantedMinor }: { readonly currency: string; readonly wantedMinor: bigint | undefined },
): FeesOf[] {
  const largest = fees.toSorted((a, b) => (a.minor === b.minor ? 0 : a.minor > b.minor ? -1 : 1))
  const swept: FeesOf[] = []
  let leftMinor = wantedMinor
  for (const { merchantId, minor } of largest.slice(0, maxSweptMerchants)) {
    if (leftMinor === 0n) break
    const taken = leftMinor !== undefined && leftMinor < minor ? leftMinor : minor
    swept.push({ merchantId, minor: taken })
    if (leftMinor !== undefined) leftMinor -= taken
  }
  const sweptMinor = swept.reduce((sum, { minor }) => sum + minor, 0n)
  if (sweptMinor === 0n || (leftMinor ?? 0n) > 0n)
    throw tooMuch(
      `There are ${toDecimalText(sweptMinor, currency)} ${currency} of fees to sweep. ${sweptMinor === 0n ? 'Nothing was swept' : 'Sweep no more than that'}.`,
    )
  return swept
}

/** As a statement has it: references there have no blanks. */
export function withoutBlanks(reference: string | undefined): string | undefined {
  return reference?.replace(/\s+/g, '') || undefined
}

function tooMuch(message: string): Failure {
  return new Failure('status_does_not_allow', { field: 'amount', message })
}
