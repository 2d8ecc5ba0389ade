// Lists every table with its place in a distributed database, parents before children. A test compares the list with
// the catalog.

/**
 * `spread` tables belong to a merchant and are distributed by merchant_id. `local` tables are small or used for
 * claims and stay on the coordinator.
 */
export type TablePlace = 'spread' | 'local'

export interface TablePlan {
  readonly place: TablePlace
  readonly isFilledByMigration?: boolean
  readonly references?: Readonly<Record<string, readonly string[]>>
}

const ofOrder = { orders: ['merchant_id', 'payment_id'] } as const
const ofMerchant = { merchants: ['merchant_id'] } as const

export const tablePlans: Readonly<Record<string, TablePlan>> = {
  migrations: { place: 'local' },
  database_mode: { place: 'local' },
  backups: { place: 'local' },

  merchants: { place: 'spread' },
  merchant_keys: { place: 'spread', references: ofMerchant },
  merchant_callback_hosts: { place: 'spread', references: ofMerchant },
  merchant_bank_accounts: { place: 'spread', references: ofMerchant },
  orders: { place: 'spread' },
  order_history: { place: 'spread', references: ofOrder },
  captures: { place: 'spread', references: ofOrder },
  refunds: { place: 'spread', references: ofOrder },
  transfers: { place: 'spread' },
  corrected_transfers: { place: 'spread' },
  callbacks: { place: 'spread', references: ofOrder },
  callback_attempts: { place: 'spread' },
  resend_requests: { place: 'spread' },
  payment_links: { place: 'spread', references: ofMerchant },
  rail_attempts: { place: 'spread', references: ofOrder },
  rail_calls: { place: 'spread' },
  disputes: { place: 'spread', references: ofOrder },
  payouts: { place: 'spread' },
  bills: { place: 'spread', references: ofMerchant },
  bill_totals: { place: 'spread', references: { bills: ['merchant_id', 'day'] } },
  bill_parts: { place: 'spread' },

  wallets: { place: 'local' },
  wallet_tries: { place: 'local' },
  wallet_sessions: { place: 'local' },
  pay_codes: { place: 'local' },
  registrations: { place: 'local' },
  pin_resets: { place: 'local' },
  accounts: { place: 'local' },
  bank_accounts: { place: 'local', isFilledByMigration: true },
  bank_openings: { place: 'local' },
  prices: { place: 'local' },
  authorizations: { place: 'local' },
  payout_plans: { place: 'local' },
  payout_runs: { place: 'local' },
  bill_turns: { place: 'local' },
  rails: { place: 'local' },
  rail_secrets: { place: 'local' },
  rail_tasks: { place: 'local' },
  transfer_entries: { place: 'local' },
  outside_accounts: { place: 'local' },
  statement_mappings: { place: 'local' },
  statement_imports: { place: 'local' },
  statement_lines: { place: 'local' },
  statement_balances: { place: 'local' },
  reconciliation_matches: { place: 'local' },
  matched_transfers: { place: 'local' },
  rail_batches: { place: 'local' },
  reconciliation_breaks: { place: 'local' },
  break_notes: { place: 'local' },
  reconciliation_days: { place: 'local' },
  callback_queue: { place: 'local' },
  callback_hosts: { place: 'local' },
  callback_destinations: { place: 'local' },
  callback_endpoints: { place: 'local' },
  callback_endpoint_secrets: { place: 'local' },
  event_feed: { place: 'local' },
  events: { place: 'local' },
  platform_keys: { place: 'local' },
  operators: { place: 'local' },
  operator_sessions: { place: 'local' },
  operator_tries: { place: 'local' },
  operator_totp: { place: 'local' },
  operator_recovery_codes: { place: 'local' },
  member_accounts: { place: 'local' },
  members: { place: 'local' },
  member_sessions: { place: 'local' },
  member_tries: { place: 'local' },
  member_totp: { place: 'local' },
  member_recovery_codes: { place: 'local' },
  member_links: { place: 'local' },
  passkeys: { place: 'local' },
  applications: { place: 'local' },
  api_tokens: { place: 'local' },
  idempotency_keys: { place: 'local' },
  approvals: { place: 'local' },
  audit: { place: 'local' },
  overview_hours: { place: 'local' },
  request_log: { place: 'local' },
  erasures: { place: 'local' },
  emails: { place: 'local' },
  email_optouts: { place: 'local' },
}

export const spreadColumn = 'merchant_id'

/** A fixed order of merchants prevents deadlocks between transactions that lock rows of several merchants. */
export function byMerchant<Key extends { readonly merchantId: string }>(
  keys: readonly Key[],
): readonly (readonly [merchantId: string, keys: readonly Key[]])[] {
  return [...Map.groupBy(keys, ({ merchantId }) => merchantId)].sort(([a], [b]) => (a < b ? -1 : 1))
}

export interface SpreadForeignKey {
  readonly table: string
  readonly name: string
  readonly columns: readonly string[]
  readonly references: string
}

/** Uses the constraint names that PostgreSQL generates. */
export function spreadForeignKeys(plans = tablePlans): readonly SpreadForeignKey[] {
  return Object.entries(plans).flatMap(([table, { references = {} }]) =>
    Object.entries(references).map(([parent, columns]) => ({
      table,
      name: `${table}_${columns.join('_')}_fkey`,
      columns,
      references: parent,
    })),
  )
}
