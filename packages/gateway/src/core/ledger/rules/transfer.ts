// Accounts, transfers, and the effect of transfers on accounts. Each transfer debits one account and credits another,
// so the books balance by construction. Transfers are append-only.
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
    | 'disputes'
    | 'owed'
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
  /** Passes a rail's payment on to the wallet. */
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
  | DisputeTransferKind
  | OwnTransferKind
  | UnknownTransferKind
/** `debt`: what a merchant's balance lacked for a dispute, lent by the operator or repaid. */
export type DisputeTransferKind = 'dispute' | 'dispute_won' | 'dispute_lost' | 'dispute_fee' | 'debt'
export type OwnTransferKind =
  | 'opening_balance'
  | 'owner_deposit'
  | 'owner_withdrawal'
  | 'fee_sweep'
  | 'bank_charge'
  | 'interest'
/** Unidentified money received in a bank account: into suspense, or back to its sender. */
export type UnknownTransferKind = 'unknown_received' | 'unknown_returned'
export type MerchantTransferKind = Exclude<
  TransferKind,
  'top_up' | 'rail_settlement' | 'rail_fee' | 'dispute_lost' | OwnTransferKind | UnknownTransferKind
>
/** A hold ends with its post or its void; a direct transfer needs no hold. */
export type Phase = 'hold' | 'post' | 'void' | 'direct'

export interface Transfer {
  /** Empty for transfers without a merchant, such as a top-up. */
  readonly merchantId: string
  readonly transferId: string
  readonly kind: TransferKind
  readonly phase: Phase
  /** The hold that a post or a void ends. */
  readonly holdId: string | undefined
  readonly debitAccountId: string
  readonly creditAccountId: string
  readonly currency: string
  readonly amountMinor: bigint
  readonly paymentId: string | undefined
  readonly refundId: string | undefined
  readonly auditId: string | undefined
  readonly madeAtMs: number
  /** For transfers through a bank account: the bank's reference. */
  readonly outside?: OutsideMark | undefined
  /** For a correction: the corrected transfer of the same merchantId. */
  readonly corrects?: string | undefined
}

/** Moves money at once, without a hold. */
export function directTransfer({ from, to, ...given }: DirectTransfer): Transfer {
  return {
    paymentId: undefined,
    refundId: undefined,
    auditId: undefined,
    ...given,
    phase: 'direct',
    holdId: undefined,
    debitAccountId: accountIdOf(from),
    creditAccountId: accountIdOf(to),
    currency: from.currency,
  }
}

type DirectTransfer = Pick<Transfer, 'merchantId' | 'transferId' | 'kind' | 'amountMinor' | 'madeAtMs'> &
  Partial<Pick<Transfer, 'paymentId' | 'auditId' | 'outside' | 'corrects'>> & {
    readonly from: AccountKey
    readonly to: AccountKey
  }

export interface OutsideMark {
  readonly reference: string
  readonly valueDate: string
}

export function walletAccount(walletId: string, currency: string): AccountKey {
  return { ownerKind: 'wallet', ownerId: walletId, currency }
}

export function merchantAccount(merchantId: string, currency: string): AccountKey {
  return { ownerKind: 'merchant', ownerId: merchantId, currency }
}

/** The operator's account at a bank. Its balance is the negative of the money at the bank. */
export function bankAccount(bankName: string, currency: string): AccountKey {
  return { ownerKind: 'bank', ownerId: bankName, currency }
}

/** The negative of what the rail has collected and not passed on. */
export function railAccount(railId: string, currency: string): AccountKey {
  return { ownerKind: 'rail', ownerId: railId, currency }
}

/** The operator's earnings from a merchant's payments. */
export function feesAccount(merchantId: string, currency: string): AccountKey {
  return { ownerKind: 'fees', ownerId: merchantId, currency }
}

/** Disputed money of merchants, which the rail withholds until the dispute ends. */
export function disputesAccount(railId: string, currency: string): AccountKey {
  return { ownerKind: 'disputes', ownerId: railId, currency }
}

/** What a merchant owes the operator because disputes exceeded its balance, as a negative amount. */
export function owedAccount(merchantId: string, currency: string): AccountKey {
  return { ownerKind: 'owed', ownerId: merchantId, currency }
}

/** Money received through a rail that belongs to no order: late, too little or too much. */
export function suspenseAccount(currency: string): AccountKey {
  return { ownerKind: 'suspense', ownerId: 'late', currency }
}

/** The operator's losses (negative) or gains from unclaimed money. */
export function writeOffAccount(currency: string): AccountKey {
  return { ownerKind: 'write_off', ownerId: 'operator', currency }
}

/** Fees that a rail kept from its collections: a cost of the operator, negative. */
export function railFeesAccount(railId: string, currency: string): AccountKey {
  return { ownerKind: 'rail_fees', ownerId: railId, currency }
}

/** The operator's own money: opening balances, deposits and swept fees, less withdrawals. */
export function equityAccount(currency: string): AccountKey {
  return { ownerKind: 'equity', ownerId: 'operator', currency }
}

/** Charges of a bank account: a cost of the operator, negative. */
export function bankChargesAccount(bankName: string, currency: string): AccountKey {
  return { ownerKind: 'bank_charges', ownerId: bankName, currency }
}

/** Interest of a bank account, less negative interest. */
export function interestAccount(bankName: string, currency: string): AccountKey {
  return { ownerKind: 'interest', ownerId: bankName, currency }
}

export function accountIdOf({ ownerKind, ownerId, currency }: AccountKey): string {
  return `${ownerKind}:${ownerId}:${currency}`
}

export function accountKeyOf(accountId: string): AccountKey {
  const [ownerKind, ownerId = '', currency = ''] = accountId.split(':')
  // Safe: every id consists of these three parts.
  return { ownerKind: ownerKind as AccountKey['ownerKind'], ownerId, currency }
}

/** The spendable balance; held money counts as spent. */
export function availableMinor(balances: Balances): bigint {
  return balances.creditsPostedMinor - balances.debitsPostedMinor - balances.debitsPendingMinor
}

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

/** The effect of each phase on the pending and posted sides, in units of the amount. */
const phaseEffects = {
  hold: { pending: 1n, posted: 0n },
  post: { pending: -1n, posted: 1n },
  void: { pending: -1n, posted: 0n },
  direct: { pending: 0n, posted: 1n },
} as const satisfies Record<Phase, { pending: bigint; posted: bigint }>

export type Effects = ReadonlyMap<string, Balances>

/** Sums the effects of many transfers per account. */
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

/** The row that ends a hold with the same amount, posted or voided. */
export function endHold(
  hold: Transfer,
  { transferId, phase, nowMs }: { transferId: string; phase: 'post' | 'void'; nowMs: number },
): Transfer {
  assert(hold.phase === 'hold', 'only a hold is posted or voided')
  return { ...hold, transferId, phase, holdId: hold.transferId, madeAtMs: nowMs }
}

export type EffectiveTransfer = Pick<Transfer, 'phase' | 'amountMinor' | 'debitAccountId' | 'creditAccountId'>
