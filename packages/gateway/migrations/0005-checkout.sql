-- The merchant's accent colour on the checkout; null: the gateway's own.
alter table merchants add column accent_colour text check (accent_colour ~ '^#[0-9a-f]{6}$');
