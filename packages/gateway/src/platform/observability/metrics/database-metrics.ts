// Metrics that only the database knows: how much work waits, and for how long. They refresh on a scrape, at most
// every few seconds; if the database is away, the last values remain with their age.
import type { Clock } from '../../runtime/clock.ts'
import { Registry, type Snapshot } from './registry.ts'

export interface DatabaseFigures {
  readonly orders: Readonly<Record<string, number>>
  readonly refunding: number
  readonly authorizationsWaiting: number
  readonly oldestAuthorizationDueAtMs: number | undefined
  readonly oldestAuthorizationSubmittedAtMs: number | undefined
  readonly oldestExpiryAtMs: number | undefined
  readonly callbacks: {
    readonly waiting: number
    readonly due: number
    readonly exhausted: number
    readonly oldestDueAtMs: number | undefined
    readonly failingHosts: number
    readonly pausedHosts: number
    readonly failingDestinations: number
    readonly pausedDestinations: number
  }
  readonly reconciliation: {
    readonly openBreaks: number
    readonly oldestBreakAtMs: number | undefined
    readonly unexplained: readonly {
      readonly account: string
      readonly currency: string
      readonly minor: number
    }[]
  }
  readonly rails: {
    readonly paused: number
    readonly failing: number
    readonly tasksWaiting: number
    readonly suspenseMinor: Readonly<Record<string, number>>
  }
  readonly databaseBytes: number
  readonly lastBackupAtMs: number | undefined
  readonly emails: { readonly waiting: number; readonly oldestDueAtMs: number | undefined }
}

/** Scrapes usually come every 5 to 15 seconds; faster ones reuse the values. */
export const refreshEveryMs = 5_000
/** A scrape does not wait for a slow database; the next scrape has the values. */
const waitAtMostMs = 3_000

export interface DatabaseMetricsParts {
  readonly read: (nowMs: number) => Promise<DatabaseFigures>
  readonly clock: Clock
}

export function makeDatabaseMetrics({ read, clock }: DatabaseMetricsParts): () => Promise<Snapshot> {
  const registry = new Registry()
  const gauges = makeGauges(registry)
  let readAtMs = Number.NEGATIVE_INFINITY
  let triedAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  const refresh = async (): Promise<void> => {
    const nowMs = clock.now()
    triedAtMs = nowMs
    try {
      show(gauges, await read(nowMs), nowMs)
      gauges.up.set(1)
      readAtMs = nowMs
    } catch {
      // The scrape must succeed to report that the database is away.
      gauges.up.set(0)
    }
  }

  return async () => {
    if (Math.abs(clock.now() - triedAtMs) >= refreshEveryMs) {
      reading ??= refresh().finally(() => {
        reading = undefined
      })
    }
    if (reading) {
      const giveUp = new AbortController()
      await Promise.race([reading, clock.wait(waitAtMostMs, giveUp.signal)])
      giveUp.abort()
    }
    if (readAtMs === Number.NEGATIVE_INFINITY)
      return registry.snapshot().filter(({ name }) => name === upName)
    gauges.age.set(Math.max(0, clock.now() - readAtMs) / 1000)
    return registry.snapshot()
  }
}

const upName = 'tillgate_database_up'

type Gauges = ReturnType<typeof makeGauges>

function makeGauges(registry: Registry) {
  const gauge = (name: string, help: string) => registry.gauges({ name, help, merge: 'max' }).of()
  const gauges = (name: string, help: string, ...by: [string] | [string, string]) =>
    registry.gauges({ name, help, by, merge: 'max' })
  return {
    up: gauge('tillgate_database_up', 'Whether the last count in the database succeeded.'),
    age: gauge('tillgate_database_figures_age_seconds', 'How old the figures from the database are.'),
    orders: gauges('tillgate_orders', 'Orders that are not final, by status.', 'status'),
    refunding: gauge('tillgate_refunds_refunding', 'Refunds that are not final.'),
    authorizations: gauge(
      'tillgate_authorizations_waiting',
      'Payments and refunds that wait for their rail.',
    ),
    authorizationLag: gauge(
      'tillgate_authorization_lag_seconds',
      'For how long the oldest is due to settle.',
    ),
    authorizationAge: gauge(
      'tillgate_authorization_age_seconds',
      'How long ago the oldest payment or refund that waits for its rail was submitted, however often it was tried.',
    ),
    expiryLag: gauge('tillgate_expiry_lag_seconds', 'For how long the oldest order is overdue to expire.'),
    callbacks: gauges('tillgate_callbacks', 'Callbacks that are not delivered, by state.', 'state'),
    callbackLag: gauge('tillgate_callback_lag_seconds', 'For how long the oldest callback is due.'),
    hosts: gauges('tillgate_callback_hosts', 'Callback hosts that are in trouble, by state.', 'state'),
    destinations: gauges(
      'tillgate_callback_destinations',
      'Callback destinations that are in trouble, by state.',
      'state',
    ),
    rails: gauges('tillgate_rails', 'Rails that are not offered, by state.', 'state'),
    railTasks: gauge('tillgate_rail_tasks', 'Payments, refunds and returns that wait for an outside rail.'),
    openBreaks: gauge('tillgate_reconciliation_breaks', 'Open breaks between statements and books.'),
    unexplained: gauges(
      'tillgate_reconciliation_unexplained_minor',
      'What is unexplained on the newest closed day of an outside account, in minor units, by account and currency.',
      'account',
      'currency',
    ),
    breakAge: gauge('tillgate_reconciliation_break_age_seconds', 'Age of the oldest open break.'),
    emailsWaiting: gauge('tillgate_emails_waiting', 'Emails that wait to be sent, or to be tried again.'),
    emailLag: gauge('tillgate_email_lag_seconds', 'For how long the oldest email is due.'),
    suspense: gauges(
      'tillgate_suspense_minor',
      'Money in suspense, in minor units: late, insufficient or excess amounts without an owner.',
      'currency',
    ),
    lastBackup: gauge(
      'tillgate_last_backup_timestamp_seconds',
      'When the last backup was taken that was noted, in seconds since 1970; 0 where none was.',
    ),
    bytes: gauge('tillgate_database_bytes', 'The size of the database.'),
  }
}

function show(gauges: Gauges, figures: DatabaseFigures, nowMs: number): void {
  const lag = (sinceMs: number | undefined) =>
    sinceMs === undefined ? 0 : Math.max(0, nowMs - sinceMs) / 1000
  for (const [status, count] of Object.entries(figures.orders)) gauges.orders.of(status).set(count)
  gauges.refunding.set(figures.refunding)
  gauges.authorizations.set(figures.authorizationsWaiting)
  gauges.authorizationLag.set(lag(figures.oldestAuthorizationDueAtMs))
  gauges.authorizationAge.set(lag(figures.oldestAuthorizationSubmittedAtMs))
  gauges.expiryLag.set(lag(figures.oldestExpiryAtMs))
  const { waiting, due, exhausted, oldestDueAtMs, ...trouble } = figures.callbacks
  for (const [state, count] of Object.entries({ waiting, due, exhausted }))
    gauges.callbacks.of(state).set(count)
  gauges.callbackLag.set(lag(oldestDueAtMs))
  gauges.hosts.of('failing').set(trouble.failingHosts)
  gauges.hosts.of('paused').set(trouble.pausedHosts)
  gauges.destinations.of('failing').set(trouble.failingDestinations)
  gauges.destinations.of('paused').set(trouble.pausedDestinations)
  gauges.rails.of('paused').set(figures.rails.paused)
  gauges.rails.of('failing').set(figures.rails.failing)
  gauges.openBreaks.set(figures.reconciliation.openBreaks)
  gauges.breakAge.set(lag(figures.reconciliation.oldestBreakAtMs))
  for (const { account, currency, minor } of figures.reconciliation.unexplained)
    gauges.unexplained.of(account, currency).set(minor)
  gauges.emailsWaiting.set(figures.emails.waiting)
  gauges.emailLag.set(lag(figures.emails.oldestDueAtMs))
  gauges.lastBackup.set((figures.lastBackupAtMs ?? 0) / 1000)
  gauges.railTasks.set(figures.rails.tasksWaiting)
  for (const [currency, minor] of Object.entries(figures.rails.suspenseMinor))
    gauges.suspense.of(currency).set(minor)
  gauges.bytes.set(figures.databaseBytes)
}
