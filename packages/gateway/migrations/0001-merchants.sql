create table merchants (
  merchant_id          text    primary key check (merchant_id ~ '^[0-9A-Za-z]{18}$'),
  name                 text    not null check (name <> ''),
  status               text    not null check (status in ('active', 'suspended')),
  requests_per_second  integer check (requests_per_second > 0),  -- null: the gateway's default
  callback_hosts       text[],                                   -- null: any host
  created_at           bigint  not null,
  accent_colour        text    check (accent_colour ~ '^#[0-9a-f]{6}$'),
  is_self_registered   boolean not null default false,
  contact_emails       text[],
  contact_language     text,
  default_callback_url text    check (length(default_callback_url) <= 2048),
  logo                 bytea   check (length(logo) <= 65536),
  logo_type            text    check (logo_type in ('image/png', 'image/jpeg', 'image/webp')),
  logo_hash            text,
  aes_key_in_use       text,                                     -- by the newest requests; null: the only live key
  aes_key_in_use_since bigint,
  callback_key_id      text,                                     -- set by an operator; null: the AES key in use
  constraint merchants_logo check (num_nulls(logo, logo_type, logo_hash) in (0, 3))
);

create table merchant_keys (
  merchant_id text     references merchants(merchant_id),
  key_id      text,
  kind        text     not null check (kind in ('rsa', 'aes')),
  slot        smallint not null check (slot in (1, 2)),
  public_key  text,   -- rsa: SPKI as PEM
  sealed_key  bytea,  -- aes: under the master key
  created_at  bigint   not null,
  revoked_at  bigint,
  used_at     bigint,
  primary key (merchant_id, key_id),
  check ((kind = 'rsa') = (public_key is not null)),
  check ((kind = 'aes') = (sealed_key is not null))
);
create unique index merchant_keys_live on merchant_keys (merchant_id, kind, slot) where revoked_at is null;

create table merchant_callback_hosts (
  merchant_id  text   references merchants(merchant_id),
  host         text,
  last_used_at bigint not null,
  primary key (merchant_id, host)
);

create table platform_keys (
  key_id     uuid     primary key,
  slot       smallint not null check (slot in (1, 2)),
  public_key text     not null,  -- SPKI as PEM
  sealed_key bytea    not null,  -- PKCS#8, under the master key
  created_at bigint   not null,
  retired_at bigint,
  signs_from bigint   not null default 0
);
create unique index platform_keys_live on platform_keys (slot) where retired_at is null;
