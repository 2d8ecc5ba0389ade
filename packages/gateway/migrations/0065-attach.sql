-- A merchant's own data with an order, returned unchanged, and sought by how it begins.
alter table orders add column attach text check (length(attach) <= 1024);
create index orders_attach on orders (merchant_id, left(attach, 64) text_pattern_ops) where attach is not null;
