-- A new key of the gateway is published at once and signs from this moment on, so that merchants can take it first.
alter table platform_keys add column signs_from bigint not null default 0;
