-- An approval is an action that waits to run: its name, its parameters and its input, as the catalog of actions knows
-- them. Requests that wait while this version is installed cannot run under the new form, so they expire.
alter table approvals
  drop constraint approvals_act_check,
  drop constraint approvals_details_check,
  drop constraint approvals_money_check,
  drop constraint approvals_merchant;
drop index approvals_refund_number;
alter table approvals rename column act to action;
alter table approvals
  add column params  jsonb not null default '{}',
  add column input   jsonb not null default '{}',
  add column summary text  not null default '',
  add column content_hash bytea;
update approvals
   set summary = concat_ws(' ', action, nullif(subject, ''), amount_minor::text, currency, details::text);
update approvals set status = 'expired', decided_at = expires_at where status = 'waiting';
alter table approvals
  drop column subject,
  drop column refer_refund_no,
  drop column currency,
  drop column amount_minor,
  drop column details;
alter table approvals
  alter column params drop default,
  alter column input drop default,
  alter column summary drop default;
-- A request that is sent again while it waits is the same request. Actions with an idempotency key have none: their
-- key is the request's id.
create unique index approvals_same_action on approvals (requested_by, content_hash)
  where status = 'waiting' and content_hash is not null;
