// The ledger's rules: accounts, transfers, and what transfers do to accounts. Every transfer takes from one account
// what it gives to another, so the books balance by construction; transfers are only ever added.
import assert from 'node:assert/strict'

export interface AccountOwner {
  readonly ownerKind:
    | 'wallet'
    | 'merchant'
    | 'bank'
    | 'rail'
    | 'suspense'
    | 'fees'
    | 'write_off'
    | 'rail_fees'
    | 'equity'
    | 'bank_charges'
    | 'interest'
  readonly ownerId: string
}

export interface AccountKey extends AccountOwner {
  readonly currency: string
}

export interface Balances {
  readonly debitsPendingMinor: bigint
  readonly debitsPostedMinor: bigint
  readonly creditsPendingMinor: bigint
  readonly creditsPostedMinor: bigint
}

export type TransferKind =
  | 'payment'
  | 'refund'
  | 'top_up'
  /** What a rail brought for a wallet goes on to it. */
  | 'top_up_credit'
  | 'payout'
  | 'payout_return'
  | 'late_payment'
  | 'late_return'
  | 'transfer_received'
  | 'transfer_applied'
  | 'transfer_returned'
  | 'fee'
  | 'fee_return'
  | 'correction'
  | 'rail_settlement'
  | 'rail_fee'
  | OwnTransferKind
  | UnknownTransferKind
/** The operator's own money. */
export type OwnTransferKind =
  | 'opening_balance'
  | 'owner_deposit'
  | 'owner_withdrawal'
  | 'fee_sweep'
  | 'bank_charge'
  | 'interest'
/** Money that came to a bank account and that nobody can name: into suspense, and back to its sender. */
export type UnknownTransferKind = 'unknown_received' | 'unknown_returned'
/** Of those that move a merchant's balance. */
export type MerchantTransferKind = Exclude<
  TransferKind,
  'top_up' | 'rail_settlement' | 'rail_fee' | OwnTransferKind | UnknownTransferKind
>
/** A hold waits for its post or its void; a direct transfer needs no hold. */
export type Phase = 'hold' | 'post' | 'void' | 'direct'

export interface Transfer {
  /** Empty for what concerns no merchant, such as a top-up. */
  readonly merchantId: string
  readonly transferId: string
  readonly kind: TransferKind
  readonly phase: Phase
  /** What a post or a void ends. */
  readonly holdId: string | undefined
  readonly debitAccountId: string
  readonly creditAccountId: string
  readonly currency: string
  readonly amountMinor: bigint
  readonly paymentId: string | undefined
  readonly refundId: string | undefined
  readonly auditId: string | undefined
  readonly madeAtMs: number
  /** Where it is posted to or from a bank account: by what the bank knows it. */
  readonly outside?: OutsideMark | undefined
  /** Of a correction: the transfer that it puts right, of the same merchantId. */
  readonly corrects?: string | undefined
}

export interface OutsideMark {
  readonly reference: string
  /** Such as 2026-11-16. */
  readonly valueDate: string
}

export function walletAccount(walletId: string, currency: string): AccountKey {
  return { ownerKind: 'wallet', ownerId: walletId, currency }
}

export function merchantAccount(merchantId: string, currency: string): AccountKey {
  return { ownerKind: 'merchant', ownerId: merchantId, currency }
}

/** One of the operator's own accounts at a bank: it is below zero by what lies there. */
export function bankAccount(bankName: string, currency: string): AccountKey {
  return { ownerKind: 'bank', ownerId: bankName, currency }
}

/** What came through a rail and was not passed on is below zero in it. */
export function railAccount(railId: string, currency: string): AccountKey {
  return { ownerKind: 'rail', ownerId: railId, currency }
}

/** What the operator has earned by a merchant's payments. */
export function feesAccount(merchantId: string, currency: string): AccountKey {
  return { ownerKind: 'fees', ownerId: merchantId, currency }
}

/** Money that came through a rail and is no order's: too late, too little, too much. */
export function suspenseAccount(currency: string): AccountKey {
  return { ownerKind: 'suspense', ownerId: 'late', currency }
}

/** What the operator lost, below zero, or gained by what never found its owner. */
export function writeOffAccount(currency: string): AccountKey {
  return { ownerKind: 'write_off', ownerId: 'operator', currency }
}

/** What a rail kept of what it collected: the operator's cost, below zero. */
export function railFeesAccount(railId: string, currency: string): AccountKey {
  return { ownerKind: 'rail_fees', ownerId: railId, currency }
}

/** What the operator owns: opening balances, deposits and swept fees, less withdrawals. */
export function equityAccount(currency: string): AccountKey {
  return { ownerKind: 'equity', ownerId: 'operator', currency }
}

/** What a bank charged for one of its accounts: the operator's cost, below zero. */
export function bankChargesAccount(bankName: string, currency: string): AccountKey {
  return { ownerKind: 'bank_charges', ownerId: bankName, currency }
}

/** What a bank paid on one of its accounts, less negative interest. */
export function interestAccount(bankName: string, currency: string): AccountKey {
  return { ownerKind: 'interest', ownerId: bankName, currency }
}

export function accountIdOf({ ownerKind, ownerId, currency }: AccountKey): string {
  return `${ownerKind}:${ownerId}:${currency}`
}

/** Of an id that rules made. */
export function accountKeyOf(accountId: string): AccountKey {
  const [ownerKind, ownerId = '', currency = ''] = accountId.split(':')
  // Safe: the id is made of these three.
  return { ownerKind: ownerKind as AccountKey['ownerKind'], ownerId, currency }
}

/** What can be spent: money that is held is spent already as far as anybody else is concerned. */
export function availableMinor(balances: Balances): bigint {
  return balances.creditsPostedMinor - balances.debitsPostedMinor - balances.debitsPendingMinor
}

/** What the books say is there, held or not. */
export function postedMinor(balances: Balances): bigint {
  return balances.creditsPostedMinor - balances.debitsPostedMinor
}

export const noBalances: Balances = {
  debitsPendingMinor: 0n,
  debitsPostedMinor: 0n,
  creditsPendingMinor: 0n,
  creditsPostedMinor: 0n,
}

export function addBalances(a: Balances, b: Balances): Balances {
  return {
    debitsPendingMinor: a.debitsPendingMinor + b.debitsPendingMinor,
    debitsPostedMinor: a.debitsPostedMinor + b.debitsPostedMinor,
    creditsPendingMinor: a.creditsPendingMinor + b.creditsPendingMinor,
    creditsPostedMinor: a.creditsPostedMinor + b.creditsPostedMinor,
  }
}

/** What each phase does to the pending and the posted side, in units of the amount. */
const phaseEffects = {
  hold: { pending: 1n, posted: 0n },
  post: { pending: -1n, posted: 1n },
  void: { pending: -1n, posted: 0n },
  direct: { pending: 0n, posted: 1n },
} as const satisfies Record<Phase, { pending: bigint; posted: bigint }>

export type Effects = ReadonlyMap<string, Balances>

/** What these transfers add to each account; many transfers, one sum for each account. */
export function effectsOf(transfers: readonly EffectiveTransfer[]): Effects {
  const effects = new Map<string, Balances>()
  const add = (accountId: string, change: Balances): void => {
    const before = effects.get(accountId)
    effects.set(accountId, before ? addBalances(before, change) : change)
  }
  for (const { phase, amountMinor, debitAccountId, creditAccountId } of transfers) {
    assert(amountMinor > 0n, 'a transfer moves more than nothing')
    assert(debitAccountId !== creditAccountId, 'a transfer has two sides')
    const pending = phaseEffects[phase].pending * amountMinor
    const posted = phaseEffects[phase].posted * amountMinor
    add(debitAccountId, { ...noBalances, debitsPendingMinor: pending, debitsPostedMinor: posted })
    add(creditAccountId, { ...noBalances, creditsPendingMinor: pending, creditsPostedMinor: posted })
  }
  return effects
}

/** The one further row that ends a hold: the same money, posted or voided. */
export function endHold(
  hold: Transfer,
  { transferId, phase, nowMs }: { transferId: string; phase: 'post' | 'void'; nowMs: number },
): Transfer {
  assert(hold.phase === 'hold', 'only a hold is posted or voided')
  return { ...hold, transferId, phase, holdId: hold.transferId, madeAtMs: nowMs }
}

export type EffectiveTransfer = Pick<Transfer, 'phase' | 'amountMinor' | 'debitAccountId' | 'creditAccountId'>
