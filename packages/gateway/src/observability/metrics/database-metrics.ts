// What the database knows and no process does: how much waits, and for how long. Counted when somebody looks, at most
// every few seconds; a database that is away leaves the last figures standing, with their age beside them.
import type { Clock } from '../../platform/clock.ts'
import { Registry, type Snapshot } from './registry.ts'

/** Of everything in the database, however many gateways run over it. */
export interface DatabaseFigures {
  readonly orders: Readonly<Record<string, number>>
  readonly refunding: number
  readonly settlementsWaiting: number
  readonly oldestSettlementDueAtMs: number | undefined
  readonly oldestSettlementSubmittedAtMs: number | undefined
  readonly oldestExpiryAtMs: number | undefined
  readonly callbacks: {
    readonly waiting: number
    readonly due: number
    readonly exhausted: number
    readonly oldestDueAtMs: number | undefined
    readonly failingHosts: number
    readonly pausedHosts: number
  }
  readonly reconciliation: {
    readonly openBreaks: number
    /** By account and currency. */
    readonly unexplainedMinor: Readonly<Record<string, number>>
  }
  readonly rails: {
    readonly paused: number
    readonly failing: number
    readonly tasksWaiting: number
    readonly suspenseMinor: Readonly<Record<string, number>>
  }
  readonly databaseBytes: number
}

/** A scrape every five to fifteen seconds is usual; more often, the figures of before are good enough. */
export const refreshEveryMs = 5_000
/** The scrape does not wait for a slow database: the figures come with the next one. */
const waitAtMostMs = 3_000

export interface DatabaseMetricsParts {
  readonly read: (nowMs: number) => Promise<DatabaseFigures>
  readonly clock: Clock
}

export function makeDatabaseMetrics({ read, clock }: DatabaseMetricsParts): () => Promise<Snapshot> {
  const registry = new Registry()
  const gauge = (name: string, help: string) => registry.gauges({ name, help, merge: 'max' }).of()
  const gauges = (name: string, help: string, label: string) =>
    registry.gauges({ name, help, by: [label], merge: 'max' })

  const up = gauge('tillgate_database_up', 'Whether the last count in the database succeeded.')
  const age = gauge('tillgate_database_figures_age_seconds', 'How old the figures from the database are.')
  const orders = gauges('tillgate_orders', 'Orders that are not final, by status.', 'status')
  const refunding = gauge('tillgate_refunds_refunding', 'Refunds that are not final.')
  const settlements = gauge('tillgate_settlements_waiting', 'Payments and refunds that wait for their rail.')
  const settlementLag = gauge('tillgate_settlement_lag_seconds', 'For how long the oldest is due to settle.')
  const settlementAge = gauge(
    'tillgate_settlement_age_seconds',
    'How long ago the oldest payment or refund that waits for its rail was submitted, however often it was tried.',
  )
  const expiryLag = gauge(
    'tillgate_expiry_lag_seconds',
    'For how long the oldest order is overdue to expire.',
  )
  const callbacks = gauges('tillgate_callbacks', 'Callbacks that are not delivered, by state.', 'state')
  const callbackLag = gauge('tillgate_callback_lag_seconds', 'For how long the oldest callback is due.')
  const hosts = gauges('tillgate_callback_hosts', 'Callback hosts that are in trouble, by state.', 'state')
  const rails = gauges('tillgate_rails', 'Rails that are not offered, by state.', 'state')
  const railTasks = gauge(
    'tillgate_rail_tasks',
    'Payments, refunds and returns that wait for an outside rail.',
  )
  const openBreaks = gauge(
    'tillgate_reconciliation_breaks',
    'Breaks between statements and books that nobody has settled.',
  )
  const unexplained = gauges(
    'tillgate_reconciliation_unexplained_minor',
    'What is unexplained on the newest closed day of an outside account, in minor units, by account and currency.',
    'account',
  )
  const suspense = gauges(
    'tillgate_suspense_minor',
    'Money in suspense, in minor units: it came too late, too little or too much, and is nobody’s yet.',
    'currency',
  )
  const bytes = gauge('tillgate_database_bytes', 'The size of the database.')

  let readAtMs = Number.NEGATIVE_INFINITY
  let triedAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  const refresh = async (): Promise<void> => {
    const nowMs = clock.now()
    triedAtMs = nowMs
    try {
      show(await read(nowMs), nowMs)
      up.set(1)
      readAtMs = nowMs
    } catch {
      // The scrape itself must not fail: that the database is away is what it has to tell.
      up.set(0)
    }
  }

  function show(figures: DatabaseFigures, nowMs: number): void {
    const lag = (sinceMs: number | undefined) =>
      sinceMs === undefined ? 0 : Math.max(0, nowMs - sinceMs) / 1000
    for (const [status, count] of Object.entries(figures.orders)) orders.of(status).set(count)
    refunding.set(figures.refunding)
    settlements.set(figures.settlementsWaiting)
    settlementLag.set(lag(figures.oldestSettlementDueAtMs))
    settlementAge.set(lag(figures.oldestSettlementSubmittedAtMs))
    expiryLag.set(lag(figures.oldestExpiryAtMs))
    const { waiting, due, exhausted, oldestDueAtMs, failingHosts, pausedHosts } = figures.callbacks
    for (const [state, count] of Object.entries({ waiting, due, exhausted })) callbacks.of(state).set(count)
    callbackLag.set(lag(oldestDueAtMs))
    hosts.of('failing').set(failingHosts)
    hosts.of('paused').set(pausedHosts)
    rails.of('paused').set(figures.rails.paused)
    rails.of('failing').set(figures.rails.failing)
    openBreaks.set(figures.reconciliation.openBreaks)
    for (const [account, minor] of Object.entries(figures.reconciliation.unexplainedMinor))
      unexplained.of(account).set(minor)
    railTasks.set(figures.rails.tasksWaiting)
    for (const [currency, minor] of Object.entries(figures.rails.suspenseMinor))
      suspense.of(currency).set(minor)
    bytes.set(figures.databaseBytes)
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
    age.set(Math.max(0, clock.now() - readAtMs) / 1000)
    return registry.snapshot()
  }
}

const upName = 'tillgate_database_up'
