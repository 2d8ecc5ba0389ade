-- Money of a bank statement that no order, payout or owner explains: it is parked in suspense, or sent back to its sender.
-- Existing rows already satisfy the constraints that these replace.
alter table transfers
  drop constraint transfers_kind_check,
  add constraint transfers_kind_check
    check (kind in ('payment', 'refund', 'top_up', 'top_up_credit', 'payout', 'payout_return', 'late_payment', 'late_return',
                    'transfer_received', 'transfer_applied', 'transfer_returned', 'fee', 'fee_return', 'correction',
                    'rail_settlement', 'rail_fee', 'opening_balance', 'owner_deposit', 'owner_withdrawal', 'fee_sweep',
                    'bank_charge', 'interest', 'unknown_received', 'unknown_returned')) not valid,
  drop constraint transfers_of_payment,
  add constraint transfers_of_payment
    check ((kind in ('top_up', 'payout', 'payout_return', 'correction', 'rail_settlement', 'rail_fee', 'opening_balance',
                     'owner_deposit', 'owner_withdrawal', 'fee_sweep', 'bank_charge', 'interest', 'unknown_received',
                     'unknown_returned'))
           = (payment_id is null)) not valid,
  drop constraint transfers_act,
  add constraint transfers_act
    check (kind in ('payout', 'payout_return')
           or (kind in ('top_up', 'correction', 'rail_settlement', 'rail_fee', 'opening_balance', 'owner_deposit',
                        'owner_withdrawal', 'fee_sweep', 'bank_charge', 'interest', 'unknown_received', 'unknown_returned'))
              = (audit_id is not null)) not valid,
  drop constraint transfers_of_nobody,
  add constraint transfers_of_nobody
    check (kind in ('correction', 'fee_sweep')
           or (kind in ('top_up', 'rail_settlement', 'rail_fee', 'opening_balance', 'owner_deposit', 'owner_withdrawal',
                        'bank_charge', 'interest', 'unknown_received', 'unknown_returned')) = (merchant_id = '')) not valid,
  drop constraint transfers_corrects,
  add constraint transfers_corrects check (corrects is null or kind in ('correction', 'unknown_returned')) not valid;

alter table reconciliation_breaks
  drop constraint reconciliation_breaks_settlement_check,
  add constraint reconciliation_breaks_settlement_check
    check (settlement in ('matched', 'accepted', 'written_off', 'confirmed', 'paired', 'parked', 'returned')) not valid;
