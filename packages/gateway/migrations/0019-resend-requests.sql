-- Requests for callbacks once more, by the hash of their signature, for as long as the same envelope could come again: a
-- replay finds its answer here and queues nothing. Old rows of a merchant go with its next request.
create table resend_requests (
  merchant_id  text    not null,
  requested_at bigint  not null,                                    -- the envelope's timestamp
  sign_hash    bytea   not null,
  queued       integer not null default 0,
  primary key (merchant_id, requested_at, sign_hash)
);
