-- Wallets by what an operator types: how login, name or last name begin.
create index wallets_login on wallets (login text_pattern_ops);
create index wallets_name on wallets (lower(name) text_pattern_ops);
create index wallets_last_name on wallets (split_part(lower(name), ' ', -1) text_pattern_ops);
-- Without figures of the expressions the planner would read all wallets in the order of time.
analyze wallets;

-- Amounts as texts: who adds them up reads JSON, whose numbers are not exact.
update overview_hours
   set figures = (select coalesce(jsonb_agg(f || jsonb_build_object('minor', f ->> 'minor')), '[]')
                    from jsonb_array_elements(figures) as f)
 where figures is not null;
