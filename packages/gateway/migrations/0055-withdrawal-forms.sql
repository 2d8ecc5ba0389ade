-- The number of the form that a consumer withdraws with: sent again, it is the same withdrawal. Those of before have it as
-- the id of their act.
alter table payouts add column form_number uuid;
create unique index payouts_form on payouts (merchant_id, wallet_id, form_number) where form_number is not null;
update payouts p
   set form_number = t.audit_id
  from transfers t
 where p.merchant_id = 'GATEWAYSOWNWALLETS' and p.wallet_id is not null
   and t.merchant_id = p.merchant_id and t.transfer_id = p.payout_id;
