// The effects of each kind of transfer on money, and whose decision books it. Workers book most of them. A missing
// kind does not compile.
import type { Effect } from '../../authority/rules/effects.ts'
import type { TransferKind } from './transfer.ts'

export interface BookingEffects {
  readonly effects: readonly Effect[]
  /** Shown to people who read what an approval guards. */
  readonly decidedBy: string
}

export const bookingEffects: Readonly<Record<TransferKind, BookingEffects>> = {
  payment: {
    effects: ['credits a merchant'],
    decidedBy: 'the consumer’s PIN, the rail’s signed response, or a bank transfer that was confirmed',
  },
  refund: {
    effects: ['credits a wallet', 'sends money out'],
    decidedBy: 'the merchant’s signed request, its member, or `order.refund`',
  },
  top_up: { effects: ['credits a wallet'], decidedBy: '`wallet.top-up`' },
  top_up_credit: { effects: ['credits a wallet'], decidedBy: 'the payment of the consumer who tops up' },
  payout: {
    effects: ['sends money out'],
    decidedBy:
      '`merchant.payout`, a plan by `payout-plan.set`, `payout-run.start`, or the consumer who withdraws',
  },
  payout_return: {
    effects: ['credits a merchant', 'credits a wallet'],
    decidedBy:
      '`payout.return`, `payout.cancel`, `payout-run.cancel`; a line of a statement waits as a break',
  },
  late_payment: { effects: [], decidedBy: 'the rail’s signed response; the money lies in suspense' },
  late_return: {
    effects: ['sends money out'],
    decidedBy: 'the setting `LATE_MONEY`, or `rail.return-late-money`',
  },
  transfer_received: {
    effects: [],
    decidedBy:
      '`transfer.confirm`; a line of a statement waits as a break. The money lies in suspense until it is applied',
  },
  transfer_applied: {
    effects: ['credits a merchant'],
    decidedBy: '`transfer.confirm`, which brought the money, or the consumer who chooses the bank transfer',
  },
  transfer_returned: { effects: ['sends money out'], decidedBy: '`transfer.return`' },
  fee: { effects: ['credits the operator'], decidedBy: 'the payment, by the price that holds' },
  fee_return: {
    effects: ['credits a merchant'],
    decidedBy: 'the refund, by the price of the payment',
  },
  correction: {
    effects: ['credits a merchant', 'credits a wallet', 'credits the operator', 'sends money out'],
    decidedBy: '`correction.…`, `reconcile.write-off` and `reconcile.confirm`',
  },
  rail_settlement: {
    effects: [],
    decidedBy: 'an imported statement; the operator’s money moves from the rail to the bank',
  },
  rail_fee: { effects: [], decidedBy: 'an imported statement, with the settlement' },
  dispute: { effects: [], decidedBy: 'the rail’s signed response about a dispute' },
  dispute_won: {
    effects: ['credits a merchant'],
    decidedBy: 'the rail’s signed response that the dispute was won',
  },
  dispute_lost: {
    effects: ['sends money out'],
    decidedBy: 'the rail’s signed response that the dispute was lost, or `dispute.accept` before it',
  },
  dispute_fee: {
    effects: ['credits the operator'],
    decidedBy: 'the rail’s signed response about a dispute',
  },
  debt: {
    effects: ['credits a merchant', 'credits the operator'],
    decidedBy: 'a dispute that exceeds the merchant’s balance; repaid from the next money',
  },
  opening_balance: { effects: ['credits the operator'], decidedBy: '`bank.opening-balance`' },
  owner_deposit: { effects: ['credits the operator'], decidedBy: '`bank.deposit` or `reconcile.book-as`' },
  owner_withdrawal: { effects: ['sends money out'], decidedBy: '`bank.withdraw` or `reconcile.book-as`' },
  fee_sweep: { effects: ['credits the operator'], decidedBy: '`bank.sweep-fees`' },
  bank_charge: {
    effects: ['credits the operator', 'sends money out'],
    decidedBy: '`reconcile.book-as`',
  },
  interest: { effects: ['credits the operator', 'sends money out'], decidedBy: '`reconcile.book-as`' },
  unknown_received: {
    effects: [],
    decidedBy: '`reconcile.park` or `reconcile.return`; the money lies in suspense',
  },
  unknown_returned: { effects: ['sends money out'], decidedBy: '`reconcile.return`' },
}
