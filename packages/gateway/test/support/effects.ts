// Money, destinations and access as the tables have them, so that a test sees an effect whatever brought it about.
import assert from 'node:assert/strict'
import type { Effect } from '../../src/core/authority/rules/effects.ts'
import { bookingEffects } from '../../src/core/ledger/rules/booking-effects.ts'
import type { AccountOwner, TransferKind } from '../../src/core/ledger/rules/transfer.ts'
import type { Pool } from '../../src/platform/database/pool.ts'

export interface SeenEffects {
  /** Of everybody whose money it is; what the banks and the rails themselves hold follows from it. */
  readonly accounts: ReadonlyMap<string, { readonly credits: bigint; readonly debits: bigint }>
  /** Everything that says where money goes, a row for each. */
  readonly destinations: ReadonlySet<string>
  /** Everything that lets somebody at money, a row for each, as long as it does. */
  readonly access: ReadonlySet<string>
}

const owners = [
  'merchant',
  'wallet',
  'suspense',
  'fees',
  'equity',
  'interest',
  'bank_charges',
  'write_off',
  'rail_fees',
  'owed',
]

const destinations = [
  `select rail_id, url, account, case when account is not null then array[name, names::text, logo] end,
          currency, coalesce(least ->> currency, 'any'), coalesce(most ->> currency, 'any'), merchant
     from rails, unnest(currencies) as currency, unnest(coalesce(merchants, '{all}')) as merchant
    where not is_paused`,
  'select bank_name, iban, lines, bic from bank_accounts',
  'select merchant_id, currency, holder, iban, lines, bic from merchant_bank_accounts where ended_at is null',
  'select price_id from prices',
  // Said once for the merchant, which decides who keeps the money.
  "select dispute_id, response ->> 'kind' from disputes where response is not null",
  `select payout_id from payouts
    where sent_at is not null
      and (is_reviewed or merchant_id in (select merchant_id from merchants where status = 'suspended')
           or wallet_id in (select wallet_id from wallets where status = 'locked')
           or account ->> 'iban' not in (select iban from merchant_bank_accounts a
                                          where a.merchant_id = payouts.merchant_id and a.currency = payouts.currency
                                            and a.valid_from <= sent_at
                                          order by a.valid_from desc limit 1))`,
  // Stopped: payouts go on to the account before.
  `select bank_account_id from merchant_bank_accounts a
    where ended_at < valid_from
      and exists (select from merchant_bank_accounts b
                   where b.merchant_id = a.merchant_id and b.currency = a.currency and b.valid_from <= a.ended_at)`,
  `select merchant_id, name from merchants
    where merchant_id in (select owner_id from accounts where owner_kind = 'merchant')`,
  'select merchant_id, currency, bank_name, schedule, on_day, least_minor, reserve_minor from payout_plans',
]

/** A merchant that is new has neither money nor orders, so that its keys give access to none. */
const access = [
  `select merchant_id, key_id from merchant_keys
    where revoked_at is null and merchant_id in (select owner_id from accounts where owner_kind = 'merchant')`,
  "select merchant_id, key_id from merchant_keys where kind = 'rsa' and revoked_at is null",
  'select merchant_id, login, role from members',
  `select login, sealed_password, identity, confirmed_at is not null from member_accounts left join member_totp using (login)
    where status = 'active'`,
  `select login, role, sealed_password, email, identity, confirmed_at is not null
     from operators left join operator_totp using (login) where status = 'active'`,
  `select link_id from member_links
    where used_at is null and merchant_id in (select owner_id from accounts where owner_kind = 'merchant')`,
  'select token_id, scopes from api_tokens where revoked_at is null',
  'select credential_id from passkeys',
  'select wallet_id, code_hash from pin_resets',
  'select wallet_id, sealed_pin from wallets',
  "select wallet_id from wallets where status = 'active'",
  // Amounts just above the limits that a test sets.
  ...['payment', 'day', 'balance'].map(
    (kind) => `select account_id, amount from accounts, unnest(array[501, 1001, 2001]) as amount
    where owner_kind = 'wallet' and credits_posted > 0 and amount <= coalesce(${kind}_limit, amount)`,
  ),
  "select merchant_id from merchants where status = 'active' and merchant_id in (select merchant_id from orders)",
  'select endpoint_id, url, events from callback_endpoints where removed_at is null',
  'select endpoint_id from callback_endpoints where paused_at is null and removed_at is null',
  `select link_id from payment_links join audit on subject = link_id
    where act = 'link.pause' and status = 'active'`,
  'select endpoint_id, secret_id from callback_endpoint_secrets where ended_at is null',
  'select rail_id, secret_id from rail_secrets where ended_at is null',
  `select merchant_id, callback_hosts from merchants
    where merchant_id in (select owner_id from accounts where owner_kind = 'merchant')`,
  // Who is warned: these, or the owners where there are none.
  `select merchant_id, contact_emails from merchants
    where merchant_id in (select owner_id from accounts where owner_kind = 'merchant')`,
  // Also of one that is new: it stays.
  'select merchant_id, default_callback_url from merchants where default_callback_url is not null',
  `select merchant_id, link_id, callback_url, redirect_url from payment_links
    where coalesce(callback_url, redirect_url) is not null`,
]

export async function readEffects(pool: Pool): Promise<SeenEffects> {
  const rowsOf = async (queries: readonly string[]) => {
    const rows = new Set<string>()
    for (const [at, text] of queries.entries())
      for (const row of (await pool.query(text)).rows) rows.add(`${at} ${JSON.stringify(row)}`)
    return rows
  }
  const { rows } = await pool.query<{ id: string; credits: string; debits: string }>(
    `select account_id as id, credits_posted as credits, debits_posted + debits_pending as debits
       from accounts where owner_kind = any ($1)`,
    [owners],
  )
  return {
    accounts: new Map(
      rows.map(({ id, credits, debits }) => [id, { credits: BigInt(credits), debits: BigInt(debits) }]),
    ),
    destinations: await rowsOf(destinations),
    access: await rowsOf(access),
  }
}

/** What is taken away is no effect: only what is credited, taken out, or there now and was not before. */
export function assertNoEffect(before: SeenEffects, after: SeenEffects, what: string): void {
  for (const [id, now] of after.accounts) {
    const was = before.accounts.get(id) ?? { credits: 0n, debits: 0n }
    assert(now.credits <= was.credits, `${what} credits ${id}`)
    assert(now.debits <= was.debits, `${what} takes money out of ${id}`)
  }
  for (const kind of ['destinations', 'access'] as const)
    assert.deepEqual(
      [...after[kind]].filter((row) => !before[kind].has(row)),
      [],
      `${what}: ${kind}`,
    )
}

const effectOfCredit: Partial<Record<AccountOwner['ownerKind'], Effect>> = {
  merchant: 'credits a merchant',
  wallet: 'credits a wallet',
  fees: 'credits the operator',
  equity: 'credits the operator',
  interest: 'credits the operator',
}

/** What the books show that a kind of transfer did, and that it does not declare. */
export async function undeclaredEffects(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{
    kind: TransferKind
    debit: AccountOwner['ownerKind']
    credit: AccountOwner['ownerKind']
  }>(
    `select distinct t.kind, d.owner_kind as debit, c.owner_kind as credit
       from transfers t
       join accounts d on d.account_id = t.debit_account
       join accounts c on c.account_id = t.credit_account
      where t.phase in ('post', 'direct')`,
  )
  const outside = ['bank', 'rail', 'rail_fees']
  return rows.flatMap(({ kind, debit, credit }) => {
    // What is applied goes to the rail's account and on to the merchant, as the payment by that rail.
    const isOut = outside.includes(credit) && !outside.includes(debit) && kind !== 'transfer_applied'
    const effect = isOut ? 'sends money out' : effectOfCredit[credit]
    return effect === undefined || bookingEffects[kind].effects.includes(effect)
      ? []
      : [`${kind}, from ${debit} to ${credit}: ${effect}`]
  })
}
