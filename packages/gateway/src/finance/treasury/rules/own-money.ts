// The operator's own money: the accounts that each kind of movement uses, and which fees a sweep takes. Own money at
// a bank is `equity`; fees become equity in a sweep.
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

/** Kinds that move one bank account. */
export type OwnKind = Exclude<OwnTransferKind, 'fee_sweep'>

export interface OwnMovement {
  readonly kind: OwnKind
  readonly bankName: string
  readonly currency: string
  /** From the bank account's perspective: positive is incoming. */
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

/** Their sum is the money at banks and rails less what consumers and merchants own. */
export const ownKinds = [
  'equity',
  'fees',
  'interest',
  'bank_charges',
  'rail_fees',
  'write_off',
  'owed',
] as const satisfies readonly AccountOwner['ownerKind'][]

export interface OwnMoney {
  readonly equityMinor: bigint
  /** Sums the fees of merchants whose fees are positive. */
  readonly feesMinor: bigint
  /** Equity, fees and interest, less costs and losses. */
  readonly ownMinor: bigint
}

/** Throws if a withdrawal exceeds equity. */
export function checkEquity({ equityMinor }: OwnMoney, { currency, amountMinor }: Wanted): void {
  if (amountMinor > equityMinor)
    throw tooMuch(
      `Equity has ${toDecimalText(equityMinor, currency)} ${currency}. Sweep fees first, or withdraw less.`,
    )
}

/** Throws if more would leave than is the operator's own after costs; the rest belongs to consumers and merchants. */
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
  readonly minor: bigint
}

/** Further fees wait for the next sweep, because one transaction locks all of these accounts. */
export const maxSweptMerchants = 2_000

/** Takes the largest fees first: all of them, or `wantedMinor`. Throws if there is less. */
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

/** References in statements have no blanks. */
export function withoutBlanks(reference: string | undefined): string | undefined {
  return reference?.replace(/\s+/g, '') || undefined
}

function tooMuch(message: string): Failure {
  return new Failure('status_does_not_allow', { field: 'amount', message })
}
