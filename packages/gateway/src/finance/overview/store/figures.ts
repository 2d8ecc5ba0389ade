// Figures for metrics. Partial indexes over unfinished work keep the counts cheap as history grows, and a timeout
// bounds them.

import { type CallbackCounts, countCallbacks } from '../../../core/callbacks/store/callback-history.ts'
import type { Pool } from '../../../platform/database/pool.ts'

export interface Figures {
  readonly orders: { readonly pending: number; readonly confirming: number }
  readonly refunding: number
  readonly authorizationsWaiting: number
  readonly oldestAuthorizationDueAtMs: number | undefined
  /** Includes retried authorizations, because each retry moves the due time. */
  readonly oldestAuthorizationSubmittedAtMs: number | undefined
  readonly oldestExpiryAtMs: number | undefined
  readonly callbacks: CallbackCounts
  readonly rails: RailFigures
  readonly reconciliation: ReconciliationFigures
  readonly databaseBytes: number
  readonly lastBackupAtMs: number | undefined
  readonly emails: EmailFigures
}

export interface EmailFigures {
  readonly waiting: number
  readonly oldestDueAtMs: number | undefined
}

export interface RailFigures {
  readonly paused: number
  /** Paused because of failures. */
  readonly failing: number
  readonly tasksWaiting: number
  /** Money in suspense by currency, in minor units. */
  readonly suspenseMinor: Readonly<Record<string, number>>
}

export interface ReconciliationFigures {
  readonly openBreaks: number
  readonly oldestBreakAtMs: number | undefined
  /** Contains the newest closed day of each outside account. */
  readonly unexplained: readonly Unexplained[]
}

export interface Unexplained {
  readonly account: string
  readonly currency: string
  readonly minor: number
}

const statementTimeoutMs = 2_000

export function readFigures(database: Pool, nowMs: number): Promise<Figures> {
  return database.transaction(
    async (transaction) => {
      const callbacks = await countCallbacks(transaction, nowMs)
      const { rows } = await transaction.query<Record<string, string | null>>({
        name: 'count-figures',
        text: `
select (select count(*) from orders where status = 'pending') as pending,
       (select min(expires_at) from orders where status = 'pending' and expires_at <= $1) as oldest_expiry,
       (select count(*) from authorizations where kind = 'payment') as confirming,
       (select count(*) from authorizations where kind = 'refund') as refunding,
       (select min(due_at) from authorizations where due_at <= $1) as oldest_authorization,
       (select min(submitted_at) from authorizations where kind <> 'held') as oldest_submission,
       (select count(*) from rails where is_paused) as paused_rails,
       (select count(*) from rails where paused_until > $1) as failing_rails,
       (select count(*) from rail_tasks) as rail_tasks,
       (select json_object_agg(currency, credits_posted - debits_posted)::text
          from accounts where account_id >= 'suspense:' and account_id < 'suspense;') as suspense,
       (select count(*) from reconciliation_breaks where resolved_at is null) as open_breaks,
       (select min(found_at) from reconciliation_breaks where resolved_at is null) as oldest_break,
       (select min(due_at) from emails where state = 'queued' and due_at <= $1) as oldest_email,
       (select count(*) from emails where state = 'queued') as emails,
       (select max(taken_at) from backups) as last_backup,
       (select json_agg(json_build_object('account', d.account, 'currency', d.currency, 'minor', d.unexplained))::text
          from outside_accounts a
          join reconciliation_days d on d.account = a.account and d.currency = a.currency and d.day = a.closed_through)
         as unexplained,
       pg_database_size(current_database()) as bytes`,
        values: [nowMs],
      })
      const row = rows[0] ?? {}
      const number = (name: string) => Number(row[name] ?? 0)
      const time = (name: string) => (row[name] == null ? undefined : Number(row[name]))
      return {
        orders: { pending: number('pending'), confirming: number('confirming') },
        refunding: number('refunding'),
        authorizationsWaiting: number('confirming') + number('refunding'),
        oldestAuthorizationDueAtMs: time('oldest_authorization'),
        oldestAuthorizationSubmittedAtMs: time('oldest_submission'),
        oldestExpiryAtMs: time('oldest_expiry'),
        callbacks,
        reconciliation: {
          openBreaks: number('open_breaks'),
          oldestBreakAtMs: time('oldest_break'),
          unexplained: JSON.parse(row['unexplained'] ?? '[]') as Unexplained[],
        },
        rails: {
          paused: number('paused_rails'),
          failing: number('failing_rails'),
          tasksWaiting: number('rail_tasks'),
          suspenseMinor: JSON.parse(row['suspense'] ?? '{}'),
        },
        databaseBytes: number('bytes'),
        lastBackupAtMs: time('last_backup'),
        emails: { waiting: number('emails'), oldestDueAtMs: time('oldest_email') },
      }
    },
    { statementTimeoutMs },
  )
}
