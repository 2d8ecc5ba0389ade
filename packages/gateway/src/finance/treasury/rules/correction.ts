// Corrections of the books. Each is one further transfer; the corrected one stays and is corrected by at most its
// amount in total.
import assert from 'node:assert/strict'
import { Failure, toDecimalText } from '@tillgate/protocol'
import {
  type AccountKey,
  accountIdOf,
  accountKeyOf,
  bankAccount,
  merchantAccount,
  suspenseAccount,
  type TransferKind,
  walletAccount,
  writeOffAccount,
} from '../../../core/ledger/rules/transfer.ts'
import type { Outside } from './operator-bank-account.ts'

export type Correction = {
  readonly currency: string
  readonly amountMinor: bigint
  readonly corrects?: string | undefined
} & (
  | {
      /** Moves money from a bank account into a merchant's wallet, so that the merchant can refund. */
      readonly kind: 'fund'
      readonly merchantId: string
      readonly outside: Outside
    }
  | {
      /** Moves money from a consumer's wallet to a bank account. */
      readonly kind: 'withdraw'
      readonly walletId: string
      readonly outside: Outside
    }
  /** Reverses a top-up, a payout, a correction or own money. */
  | { readonly kind: 'reverse'; readonly merchantId: string; readonly outside: Outside }
  | {
      /** Late or unknown money out of suspense. */
      readonly kind: 'release'
      readonly merchantId: string
      readonly to: ReleaseTarget
      readonly walletId?: string | undefined
      readonly outside: Outside
    }
  /** A top-up that never arrived is a loss; unclaimed late or unknown money is a gain. */
  | { readonly kind: 'write_off'; readonly merchantId: string; readonly outside: Outside }
  | {
      /** A difference between a statement and the books, as the operator's gain or loss. */
      readonly kind: 'difference'
      /** `bank:main` or `rail:card`. */
      readonly account: string
      /** `in`: the outside balance is higher than the books. */
      readonly direction: 'in' | 'out'
      readonly outside: Outside
    }
)

export const releaseTargets = ['merchant', 'wallet', 'bank'] as const
export type ReleaseTarget = (typeof releaseTargets)[number]

export interface Correctable {
  /** Empty for transfers without a merchant. */
  readonly merchantId: string
  readonly transferId: string
  readonly kind: TransferKind
  readonly phase: string
  readonly debitAccountId: string
  readonly creditAccountId: string
  readonly currency: string
  readonly amountMinor: bigint
  readonly correctedMinor: bigint
}

/** The accounts of the move, and the merchant whose statement shows it. */
export interface CorrectionMove {
  readonly merchantId: string
  readonly from: AccountKey
  readonly to: AccountKey
}

export const correctableKinds = {
  fund: ['payout'],
  withdraw: ['top_up'],
  reverse: [
    ...(['top_up', 'payout', 'correction'] as const),
    ...(['opening_balance', 'owner_deposit', 'owner_withdrawal'] as const),
    ...(['fee_sweep', 'bank_charge', 'interest'] as const),
  ],
  release: ['late_payment', 'unknown_received'],
  write_off: ['top_up', 'late_payment', 'unknown_received'],
  difference: [],
} as const satisfies Record<Correction['kind'], readonly TransferKind[]>

/** Throws if the correction does not fit the transfer. */
export function planCorrection(correction: Correction, corrected: Correctable | undefined): CorrectionMove {
  if (corrected) checkCorrected(correction, corrected)
  const { currency } = correction
  switch (correction.kind) {
    case 'fund': {
      const { merchantId, outside } = correction
      const to = merchantAccount(merchantId, currency)
      checkSame(corrected?.debitAccountId, to, `a payout of merchant ${merchantId}`)
      return { merchantId, from: bankAccount(outside.bankName, currency), to }
    }
    case 'withdraw': {
      const { walletId, outside } = correction
      const from = walletAccount(walletId, currency)
      checkSame(corrected?.creditAccountId, from, `a top-up of wallet ${walletId}`)
      return { merchantId: '', from, to: bankAccount(outside.bankName, currency) }
    }
    case 'reverse':
      return reversed(named(corrected))
    case 'release': {
      const { merchantId, kind } = named(corrected)
      if (kind === 'unknown_received' && correction.to === 'merchant')
        throw invalid(
          'to',
          'This money belongs to no merchant. Send it back through a bank account, or to a wallet.',
        )
      return { merchantId, from: suspenseAccount(currency), to: releaseAccount(correction) }
    }
    case 'write_off': {
      const { merchantId, kind, debitAccountId } = named(corrected)
      if (kind !== 'top_up')
        return { merchantId, from: suspenseAccount(currency), to: writeOffAccount(currency) }
      return { merchantId, from: writeOffAccount(currency), to: accountKeyOf(debitAccountId) }
    }
    case 'difference': {
      const [there, gains] = [accountKeyOf(`${correction.account}:${currency}`), writeOffAccount(currency)]
      const isIn = correction.direction === 'in'
      return { merchantId: '', from: isIn ? there : gains, to: isIn ? gains : there }
    }
  }
}

function checkCorrected({ kind, currency, amountMinor }: Correction, corrected: Correctable): void {
  const kinds: readonly TransferKind[] = correctableKinds[kind]
  // A payout is posted when the bank paid it; a returned payout has its own transfer.
  const isPosted = corrected.phase === 'direct' || (corrected.phase === 'post' && kind === 'fund')
  if (!kinds.includes(corrected.kind) || !isPosted)
    throw invalid(
      'transferId',
      `Transfer ${corrected.transferId} is a ${corrected.kind}; this action corrects only ${kinds.join(', ')}.`,
    )
  if (corrected.currency !== currency)
    throw invalid('currency', `Transfer ${corrected.transferId} is in ${corrected.currency}.`)
  if (amountMinor > corrected.amountMinor - corrected.correctedMinor) throw overCorrected(corrected)
}

export function overCorrected({
  transferId,
  currency,
  amountMinor,
  correctedMinor,
}: Pick<Correctable, 'transferId' | 'currency' | 'amountMinor' | 'correctedMinor'>): Failure {
  const left = `${toDecimalText(amountMinor - correctedMinor, currency)} ${currency}`
  return new Failure('status_does_not_allow', {
    field: 'amount',
    message: `At most ${left} of transfer ${transferId} can be corrected; the rest was corrected before.`,
  })
}

function checkSame(accountId: string | undefined, account: AccountKey, what: string): void {
  if (accountId !== undefined && accountId !== accountIdOf(account))
    throw invalid('transferId', `That transfer is not ${what}.`)
}

function named(corrected: Correctable | undefined): Correctable {
  assert(corrected, 'this kind of correction names a transfer')
  return corrected
}

function reversed({ merchantId, kind, debitAccountId, creditAccountId }: Correctable): CorrectionMove {
  const [from, to] = [accountKeyOf(creditAccountId), accountKeyOf(debitAccountId)]
  // A reversed opening balance or deposit is recorded again with its own day.
  if (kind === 'correction' && (from.ownerKind === 'equity' || to.ownerKind === 'equity'))
    throw invalid('transferId', 'This is a reversal of your own money. Record the movement again instead.')
  if (from.ownerKind !== 'bank' && to.ownerKind !== 'bank')
    throw invalid('transferId', 'Only transfers through a bank account can be reversed.')
  return { merchantId, from, to }
}

function releaseAccount(correction: Correction & { readonly kind: 'release' }): AccountKey {
  const { to, merchantId, walletId, outside, currency } = correction
  if (to === 'merchant') return merchantAccount(merchantId, currency)
  if (to === 'bank') return bankAccount(outside.bankName, currency)
  if (walletId === undefined) throw invalid('walletId', 'Enter the wallet that the money goes to.')
  return walletAccount(walletId, currency)
}

function invalid(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}
