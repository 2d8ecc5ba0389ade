// What a merchant of many orders has besides them, put straight into the tables: payouts, bills, links, endpoints, members,
// requests and the rest; and what the operators of such a gateway see in their lists. No money moved for any of it.
import { randomBytes } from 'node:crypto'
import { makeLinkId, makeTransactionId } from '@tillgate/protocol'
import type { Pool } from '../packages/gateway/src/platform/database/pool.ts'
import { testVault } from '../packages/gateway/test/support/started.ts'

const dayMs = 86_400_000
/** Nobody opens it, but a gateway looks under which master key it is. */
const sealed = testVault.seal(Buffer.from('a secret'), 'bench')

export interface PastShop {
  readonly merchantId: string
  readonly nowMs: number
  /** Of the past in which its orders lie. */
  readonly days: number
}

/** After its orders, of which some get refunds, transfers and the links that they were begun at. */
export async function insertPastShop(pool: Pool, { merchantId, nowMs, days }: PastShop): Promise<void> {
  const run = (text: string, ...values: unknown[]) =>
    pool.transaction((transaction) => transaction.query(text, [merchantId, ...values]), {
      statementTimeoutMs: 0,
    })
  const links = idsOf(10_000, (atMs) => makeLinkId(atMs, randomBytes), { nowMs, days })
  await run(
    `insert into payment_links (merchant_id, link_id, link_no, status, uses, title, currency, amount_minor, goods,
                                payment_minutes, created_at)
     select $1, id, 'link-' || n, 'active', 'many', 'Tea ' || n, 'USD', 1250, '[]', 30, $3
       from unnest($2::text[]) with ordinality as l (id, n)`,
    links,
    nowMs,
  )
  // Half of all orders came by links, and most of those by the newest.
  await run(
    `update orders
        set link_uses = 'many',
            link_id = case when created_at % 10 < 8 then $2 else ($3::text[])[1 + created_at % 9999] end
      where merchant_id = $1 and created_at % 2 = 0`,
    links.at(-1),
    links,
  )
  await run(
    `insert into refunds (merchant_id, refund_id, payment_id, ordinal, refer_refund_no, status, amount_minor, currency,
                          transaction_id, created_at, completed_at)
     select merchant_id, 'R' || substr(payment_id, 2), payment_id, 1, 'refund-' || payment_id, 'refund_success', 1, 'USD',
            'T' || substr(payment_id, 2), completed_at, completed_at + 1000
       from orders where merchant_id = $1 and status = 'success' and created_at % 50 = 0`,
  )
  await run(
    `insert into transfers (merchant_id, transfer_id, kind, phase, hold_id, debit_account, credit_account, currency,
                            amount_minor, payment_id, made_at)
     select merchant_id, 'T' || substr(payment_id, 2), 'payment', 'post', 'H' || substr(payment_id, 2), 'wallet:a:USD',
            'merchant:' || merchant_id || ':USD', 'USD', payment_amount_minor, payment_id, completed_at
       from orders where merchant_id = $1 and status = 'success'`,
  )
  await run(
    `insert into accounts (account_id, owner_kind, owner_id, currency, credits_posted)
     select 'merchant:' || $1 || ':' || c, 'merchant', $1, c, 1000000 from unnest('{EUR,GBP,JPY,USD}'::text[]) as c`,
  )
  await insertPayouts(pool, { merchantId, nowMs, days: 3 * 365 })
  // A year of days, each with a file of eight parts.
  await run(
    `insert into bills (merchant_id, day, made_at, lines, bytes, sha256)
     select $1, current_date - n, $2, 11000, 8 * 65536, sha256('a bill') from generate_series(1, 365) as n`,
    nowMs,
  )
  await run(
    `insert into bill_totals
     select $1, current_date - n, c, 0, 0, 1000, 0, -10, 0, 0, 990
       from generate_series(1, 365) as n, unnest('{EUR,GBP,JPY,USD}'::text[]) as c`,
  )
  await run(
    `insert into bill_parts
     select $1, current_date - n, part, repeat('a line of a bill', 4096)
       from generate_series(1, 365) as n, generate_series(1, 8) as part where n <= 10`,
  )
  await run(`insert into bill_turns values ($1, current_date)`)
  await run(
    `insert into callback_endpoints (merchant_id, endpoint_id, slot, url, host, format, events, created_at, removed_at)
     select $1, gen_random_uuid()::text, 1 + n % 16, 'https://shop.example/' || n, 'shop.example', 'standard',
            '{payment.order.success}', $2, case when n > 16 then $2::bigint end
       from generate_series(1, 200) as n`,
    nowMs,
  )
  // Every third callback went to an endpoint, and most of those to the oldest.
  await run(
    `update callbacks
        set endpoint_id = (select endpoint_id from callback_endpoints
                            where merchant_id = $1 and removed_at is null order by slot limit 1)
      where merchant_id = $1 and created_at % 3 = 0`,
  )
  await run(
    `insert into callback_attempts (merchant_id, callback_id, attempt, started_at, duration_ms, outcome, http_status, answer, is_resend)
     select merchant_id, callback_id, n, created_at, 40, 'refused', 503, 'no', false
       from callbacks_with_progress, generate_series(1, 9) as n
      where merchant_id = $1 and exhausted_at is not null`,
  )
  await run(
    `insert into callback_queue (callback_id, merchant_id, host, due_at)
     select callback_id, merchant_id, host, $2
       from callbacks_with_progress where merchant_id = $1 and delivered_at is null and exhausted_at is null`,
    nowMs + dayMs,
  )
  await run(
    `insert into request_log (request_id, answered_at, merchant_id, is_opened, verb, route, method, http_status, code,
                              field, message, duration_ms)
     select gen_random_uuid()::text, $2::bigint - n * 1000, $1, n % 7 <> 0, 'POST', '/api/v1/gateway', 'service.trade.create',
            case when n % 3 = 0 then 200 else 400 end, 40001, 'orderNo', 'orderNo is taken', 1500
       from generate_series(1, 200000) as n`,
    nowMs,
  )
  await run(
    `insert into member_accounts (login, status, identity, password_changed_at, created_at)
     select 'colleague-' || n || '@shop.example', 'active', 'id-' || n, 1, 1 from generate_series(1, 80) as n
      where $1 <> ''`,
  )
  await run(
    `insert into members (merchant_id, login, role, created_at)
     select $1, 'colleague-' || n || '@shop.example', 'viewer', 1 from generate_series(1, 80) as n`,
  )
  await run(
    `insert into member_links (link_id, token_hash, kind, login, merchant_id, role, made_by, created_at, expires_at)
     select gen_random_uuid(), sha256(n::text::bytea), 'invitation', 'next-' || n || '@shop.example', $1, 'viewer', 'a', $2,
            $2::bigint + 86400000
       from generate_series(1, 15) as n`,
    nowMs,
  )
  await run(
    `insert into merchant_keys (merchant_id, key_id, kind, slot, sealed_key, created_at, revoked_at)
     select $1, gen_random_uuid()::text, 'aes', 1, $3, $2, case when n > 1 then $2::bigint end
       from generate_series(1, 60) as n`,
    nowMs,
    sealed,
  )
  await run(
    `insert into merchant_bank_accounts (merchant_id, bank_account_id, currency, holder, iban, set_at, valid_from)
     select $1, gen_random_uuid(), c, 'Shop', 'DE02120300000000202051', $2::bigint - n * 1000, $2::bigint - n * 1000
       from generate_series(1, 30) as n, unnest('{EUR,USD}'::text[]) as c`,
    nowMs,
  )
  await run(
    `insert into payout_plans (merchant_id, currency, bank_name, schedule, least_minor, reserve_minor, share_basis_points,
                               share_days, next_day)
     select $1, c, 'main', 'daily', 0, 0, 0, 0, '2100-01-01' from unnest('{EUR,GBP,JPY,USD}'::text[]) as c`,
  )
  // One price of its own for each way to pay and currency, changed ten times.
  await run(
    `insert into prices (price_id, merchant_id, rail_id, currency, valid_from, fixed_minor, basis_points, returns_fee,
                         created_at)
     select gen_random_uuid(), $1, r, c, 100000 + n, 10, 100, false, 1
       from generate_series(1, 10) as n, unnest('{wallet,bank,transfer}'::text[]) as r,
            unnest('{EUR,GBP,JPY,USD}'::text[]) as c`,
  )
}

async function insertPayouts(pool: Pool, shop: PastShop): Promise<void> {
  const ids = idsOf(shop.days * 4, (atMs) => makeTransactionId(atMs, randomBytes), shop)
  await pool.query(
    `insert into payouts (merchant_id, payout_id, run_id, status, currency, amount_minor, account, requested_at, sent_at,
                          ended_at, reference, value_date)
     select $1, id, gen_random_uuid(), 'paid', ('{EUR,GBP,JPY,USD}'::text[])[1 + n % 4], 1000,
            '{"holder": "Shop", "iban": "DE02120300000000202051"}', 1, 2, 3, 'reference', current_date
       from unnest($2::text[]) with ordinality as p (id, n)`,
    [shop.merchantId, ids],
  )
}

/** What lists of operators are made of, in the numbers of a gateway with that many merchants. */
export async function insertPastGateway(pool: Pool, nowMs: number): Promise<void> {
  const run = (text: string, ...values: unknown[]) =>
    pool.transaction((transaction) => transaction.query(text, [nowMs, ...values]), { statementTimeoutMs: 0 })
  await run(
    `insert into payout_runs (run_id, bank_name, currency, day, part, created_at, closed_at, sent_at, debtor, ending,
                              ending_asked_at, reference, value_date, ended_at)
     select gen_random_uuid(), 'main', c, current_date - n, 1, $1::bigint - n * 86400000::bigint, 1, 1, '{"holder": "Gateway"}',
            'paid', 1, 'reference', current_date, 1
       from generate_series(1, 1500) as n, unnest('{EUR,USD}'::text[]) as c`,
  )
  await run(
    `insert into payouts (merchant_id, payout_id, run_id, status, currency, amount_minor, account, requested_at, sent_at)
     select m.merchant_id, 'T' || substr(md5(m.merchant_id), 1, 20) || n, gen_random_uuid(),
            case when n = 1 then 'sent' else 'requested' end, 'USD', 1000,
            '{"holder": "Shop", "iban": "DE02120300000000202051"}', $1, case when n = 1 then 1 end
       from merchants m, generate_series(1, 10) as n`,
  )
  await run(
    `insert into accounts (account_id, owner_kind, owner_id, currency, credits_posted)
     select 'merchant:' || merchant_id || ':USD', 'merchant', merchant_id, 'USD', 1 from merchants where $1::bigint > 0
         on conflict do nothing`,
  )
  await run(
    `insert into wallets (wallet_id, login, name, sealed_pin, status, created_at)
     select 'W' || n, 'person-' || n, 'Person ' || n, $2, 'active', $1::bigint - n from generate_series(1, 100000) as n`,
    sealed,
  )
  await run(
    `insert into accounts (account_id, owner_kind, owner_id, currency, credits_posted)
     select 'wallet:W' || n || ':USD', 'wallet', 'W' || n, 'USD', 1 from generate_series(1, 100000) as n where $1::bigint > 0`,
  )
  await run(
    `insert into reconciliation_breaks (break_id, account, currency, kind, amount_minor, size_minor, day, line_id, found_at,
                                        resolved_at, resolved_by, resolution)
     select gen_random_uuid(), 'bank:main', 'USD', 'missing_here', 5, 5, current_date, 'line-' || n, $1::bigint - n,
            case when n > 2000 then $1::bigint end, case when n > 2000 then 'admin' end,
            case when n > 2000 then 'accepted' end
       from generate_series(1, 50000) as n`,
  )
  await run(
    `insert into applications (application_id, token_hash, status, business, contact, email, website, about, public_key,
                               created_at, changed_at, decided_by, reason)
     select gen_random_uuid(), sha256(n::text::bytea), case when n <= 500 then 'waiting' else 'rejected' end, 'Shop ' || n,
            'A', 'a@shop.example', 'https://shop.example', 'Tea', 'key', $1::bigint - n, $1,
            case when n > 500 then 'admin' end, case when n > 500 then 'no' end
       from generate_series(1, 20000) as n`,
  )
  await run(
    `insert into emails (email_id, kind, recipient, language, parameters, state, created_at, give_up_at, ended_at)
     select gen_random_uuid(), 'receipt', 'a@shop.example', 'en', '{}', case when n % 100 = 0 then 'refused' else 'sent' end,
            $1::bigint - n, $1, $1::bigint - n
       from generate_series(1, 300000) as n`,
  )
  await run(
    `insert into audit (audit_id, acted_at, actor, act, merchant_id, subject)
     select gen_random_uuid(), $1::bigint - n, 'operator:admin', 'merchant.change',
            (select min(merchant_id) from merchants), 'x'
       from generate_series(1, 300000) as n`,
  )
  // A price of every merchant's own.
  await run(
    `insert into prices (price_id, merchant_id, rail_id, currency, valid_from, fixed_minor, basis_points, returns_fee,
                         created_at)
     select gen_random_uuid(), merchant_id, '', 'USD', 100000, 10, 100, false, 1 from merchants where $1::bigint > 0
         on conflict do nothing`,
  )
}

function idsOf(
  count: number,
  make: (atMs: number) => string,
  { nowMs, days }: Pick<PastShop, 'nowMs' | 'days'>,
): string[] {
  return Array.from({ length: count }, (_, index) =>
    make(Math.floor(nowMs - days * dayMs * (1 - (index + 1) / count))),
  )
}
