// The table of background jobs: what each does, how often it runs, and what wakes it.
import { leaseMs as authorizationLeaseMs } from '../core/orders/payments/settle.ts'
import { type DueTask, leaseMs as railLeaseMs } from '../finance/rails/ask-rails.ts'
import type { Job } from '../platform/jobs/jobs.ts'
import type { Clock } from '../platform/runtime/clock.ts'
import type { Log } from '../platform/runtime/log.ts'
import type { Stores } from './database/stores.ts'
import type { Operations } from './operations.ts'
import type { Config } from './settings/config.ts'

export interface JobTableParts {
  readonly config: Pick<Config, 'mail' | 'personalDataDays'>
  readonly stores: Stores
  readonly operations: Operations
  readonly clock: Clock
  readonly log: Log
}

const second = 1_000
const minute = 60 * second
/** The pause between two batches of work without urgency. */
const breathMs = 100

export function jobTable(parts: JobTableParts): readonly Job[] {
  const { config, stores, operations, log } = parts
  return [
    {
      name: 'expire-orders',
      intervalMs: 5 * second,
      wokenBy: ['order created', 'order advanced'],
      nextDueAtMs: stores.orders.nextExpiry,
      async sweep() {
        const { expired, more } = await operations.expireOrders()
        if (expired > 0) log.info({ worker: 'expire-orders', count: expired }, 'orders expired')
        return more ? 0 : undefined
      },
    },
    {
      name: 'settle',
      intervalMs: second,
      wokenBy: ['payment submitted', 'order advanced'],
      leaseMs: authorizationLeaseMs,
      mostAtOnce: 1_000,
      mostPerClaim: 200,
      ...operations.settle,
    },
    {
      name: 'ask-rails',
      intervalMs: second,
      wokenBy: ['rail task', 'order advanced'],
      leaseMs: railLeaseMs,
      // Each rail has its own limit.
      mostAtOnce: Number.POSITIVE_INFINITY,
      mostPerClaim: Number.POSITIVE_INFINITY,
      claim: operations.askRails.claimDue,
      work: ({ task, leave }: DueTask) => operations.askRails.work(task, leave).then(() => true),
      nextDueAtMs: operations.askRails.nextDue,
    },
    payoutJob(parts),
    {
      name: 'collect-debts',
      intervalMs: 5 * second,
      async sweep() {
        const debtors = await operations.collectDebts()
        if (debtors > 0) log.info({ worker: 'collect-debts', count: debtors }, 'merchants repaid debts')
        return undefined
      },
    },
    {
      name: 'make-bills',
      intervalMs: minute,
      async sweep() {
        const { made, errors, more } = await operations.makeBills()
        for (const err of errors)
          log.warn({ worker: 'make-bills', err }, 'a bill could not be created; retrying')
        if (made > 0) log.info({ worker: 'make-bills', count: made }, 'bills were created')
        return more ? breathMs : undefined
      },
    },
    {
      name: 'reconcile',
      intervalMs: minute,
      startAfterMs: minute,
      async sweep() {
        const accounts = await operations.reconcile()
        if (accounts > 0) log.info({ worker: 'reconcile', count: accounts }, 'accounts were reconciled')
        return undefined
      },
    },
    {
      name: 'fetch-settlements',
      intervalMs: 30 * minute,
      startAfterMs: minute,
      async sweep() {
        const reports = await operations.fetchSettlements()
        if (reports > 0)
          log.info({ worker: 'fetch-settlements', count: reports }, 'settlement reports were imported')
        return undefined
      },
    },
    {
      name: 'count-hours',
      intervalMs: minute,
      startAfterMs: 10 * second,
      sweep: operations.countDueHour,
    },
    ...(config.mail ? [emailJob(parts)] : []),
    ...(config.personalDataDays === undefined ? [] : [erasureJob(parts)]),
    purgeJob(parts),
    {
      name: 'write-request-log',
      intervalMs: second,
      isInEveryProcess: true,
      async sweep() {
        const { leftOut } = await operations.requestLog.write()
        if (leftOut > 0)
          log.info(
            { worker: 'write-request-log', count: leftOut },
            'refused requests have no line in the request log',
          )
        return undefined
      },
    },
  ]
}

/**
 * The limit if no other process uses the database. While one batch is in PostgreSQL, another is decided here; each
 * takes about half of the time.
 */
export const mostPayoutBatchesAtOnce = 2
/**
 * Orders have priority: while other processes use the database, the job rests for this multiple of its turn, so that it
 * uses less than a tenth of one connection.
 */
const restsPerTurn = 16

function payoutJob({ operations, stores, clock, log }: JobTableParts): Job {
  let batchesAtOnce = 1
  return {
    name: 'make-payouts',
    intervalMs: 5 * second,
    wokenBy: ['payouts'],
    async sweep() {
      const startedAtMs = clock.now()
      const { made, ended, more } = await operations.workPayouts({ batchesAtOnce })
      const tookMs = Math.max(1, clock.now() - startedAtMs)
      if (made > 0) log.info({ worker: 'make-payouts', count: made }, 'payouts were created')
      if (ended > 0) log.info({ worker: 'make-payouts', count: ended }, 'payouts were ended')
      const isAlone = more && !(await stores.payoutBatches.isShared())
      batchesAtOnce = isAlone ? mostPayoutBatchesAtOnce : 1
      if (!more) return undefined
      return isAlone ? 0 : Math.min(restsPerTurn * tookMs, minute)
    },
  }
}

function emailJob({ operations: { sendEmails } }: JobTableParts): Job {
  return {
    name: 'send-emails',
    intervalMs: 2 * second,
    nextDueAtMs: sendEmails.nextDue,
    sweep: async (stopping) => ((await sendEmails.sendDue(stopping)) > 0 ? 0 : undefined),
  }
}

function erasureJob({ operations, log }: JobTableParts): Job {
  return {
    name: 'erase-personal-data',
    intervalMs: 10 * minute,
    async sweep() {
      const { erased, more } = await operations.erasePersonalData()
      if (erased > 0)
        log.info({ worker: 'erase-personal-data', count: erased }, 'personal data of old orders was erased')
      return more ? breathMs : undefined
    },
  }
}

function purgeJob({ operations, log }: JobTableParts): Job {
  const worker = 'purge'
  return {
    name: worker,
    intervalMs: 10 * minute,
    async sweep() {
      const { pruned, exhausted, more } = await operations.purgeCallbacks()
      if (exhausted > 0)
        log.warn({ worker, count: exhausted }, 'callbacks are exhausted: their host was paused until the end')
      if (pruned > 0) log.debug({ worker, count: pruned }, 'old callback history was removed')
      if (more) return breathMs
      const { dropped, busy } = await operations.purgePartitions()
      if (dropped.length > 0) log.info({ worker, tables: dropped }, 'expired partitions were dropped')
      if (busy.length > 0)
        log.warn({ worker, tables: busy }, 'a table was locked for too long to create or drop its partitions')
      const rows = await operations.purgeRows()
      if (rows.emails > 0)
        log.debug(
          { worker, count: rows.emails },
          'emails sent or given up more than a month ago were removed',
        )
      return rows.more ? breathMs : undefined
    },
  }
}
