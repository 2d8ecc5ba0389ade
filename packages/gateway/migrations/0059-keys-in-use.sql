-- Which of a merchant's keys are in use. Callbacks are sealed with the AES key of the merchant's last requests, not with
-- the newest one, which the merchant may not have installed yet.
alter table merchant_keys add column used_at bigint;                 -- when a request under the key was last recorded

alter table merchants
  add column aes_key_in_use       text,                              -- of the last requests; null: the only live key
  add column aes_key_in_use_since bigint,
  add column callback_key_id      text;                              -- chosen by hand; null: the AES key in use

-- Until now the key with the highest number sealed callbacks. A merchant that is in the middle of a rotation keeps it
-- until its next request.
update merchants m
   set aes_key_in_use = k.key_id, aes_key_in_use_since = k.created_at
  from merchant_keys k
 where k.merchant_id = m.merchant_id and k.kind = 'aes' and k.revoked_at is null
   and exists (select 1 from merchant_keys o
                where o.merchant_id = k.merchant_id and o.kind = 'aes' and o.revoked_at is null and o.key_id < k.key_id);
