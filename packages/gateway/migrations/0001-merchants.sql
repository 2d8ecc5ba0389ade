-- Merchants and their keys, and the record of what operators did.
-- All times are milliseconds since 1970, as on the wire. Every merchant-owned table begins its keys with
-- merchant_id, so that the tables can be spread over many machines by it.

create table merchants (
  merchant_id         text    primary key check (merchant_id ~ '^[0-9]{18}$'),
  name                text    not null check (name <> ''),
  status              text    not null check (status in ('active', 'suspended')),
  requests_per_second integer check (requests_per_second > 0),      -- null: the gateway's default
  callback_hosts      text[],                                       -- null: any host; else only these
  created_at          bigint  not null
);

create table merchant_keys (
  merchant_id text     not null references merchants,
  key_id      text     not null,
  kind        text     not null check (kind in ('rsa', 'aes')),
  slot        smallint not null check (slot in (1, 2)),
  public_key  text,                                                 -- rsa: SPKI as PEM
  sealed_key  bytea,                                                -- aes: under the master key
  created_at  bigint   not null,
  revoked_at  bigint,
  primary key (merchant_id, key_id),
  check ((kind = 'rsa') = (public_key is not null)),
  check ((kind = 'aes') = (sealed_key is not null))
);

-- Two slots a kind: the third live key is refused by the database itself.
create unique index merchant_keys_live on merchant_keys (merchant_id, kind, slot) where revoked_at is null;

-- Which callback hosts a merchant used lately, for the limit on frequent changes.
create table merchant_callback_hosts (
  merchant_id  text   not null references merchants,
  host         text   not null,
  last_used_at bigint not null,
  primary key (merchant_id, host)
);

-- Only ever added to.
create table audit (
  audit_id    uuid   primary key,
  acted_at    bigint not null,
  actor       text   not null,
  act         text   not null,
  merchant_id text,
  subject     text   not null,
  reason      text
);
create index audit_acted_at on audit (acted_at);
