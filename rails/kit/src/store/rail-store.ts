// The only SQL of a rail. Statuses change by guarded updates, so that two processes, or a message and a webhook, cannot
// undo each other's work.
import { readFileSync } from 'node:fs'
import type { NextAction, RailMessageOf } from '@tillgate/protocol'
import pg from 'pg'
import type {
  Notice,
  PaymentStart,
  PaymentStatus,
  ProviderPayment,
  ProviderRefund,
  RefundStatus,
  StoredPayment,
  StoredRefund,
} from '../provider.ts'
import { DisputeStore } from './dispute-store.ts'
import { addNotification, inTransaction } from './outbox.ts'

/** An older intent was left by a process that ended. */
export const intentLeaseMs = 20_000
const lookAgainMs = { first: 5_000, most: 10 * 60_000 } as const
/** The pause until the next query while the provider's state is not final. */
const lookAgainLaterMs = 60_000
const notifyAgainMs = { first: 1_000, most: 60 * 60_000 } as const
export const maxNotifyAttempts = 30
const noNotice: Notice = {}

const schema = readFileSync(new URL('schema.sql', import.meta.url), 'utf8')

/** Creates the schema if it is missing. All statements then use its tables without a prefix. */
export async function openRailDatabase(databaseUrl: string, schemaName: string): Promise<pg.Pool> {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 8,
    options: `-c search_path=${schemaName}`,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 5_000,
  })
  // The next query reports a lost idle connection; without a listener it would end the process.
  pool.on('error', () => {})
  await inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock(hashtext($1))', [schemaName])
    await client.query(`create schema if not exists ${pg.escapeIdentifier(schemaName)}`)
    await client.query(schema)
  })
  return pool
}

export interface Change {
  readonly nowMs: number
  /** Set if the gateway did not ask and must be notified. */
  readonly notifies: boolean
  /** The provider's state is not final, so the rail queries again. */
  readonly looksAgain?: boolean
}

export interface DueNotification {
  readonly id: string
  readonly notifyUrl: string
  readonly body: string
  readonly attempts: number
}

export class RailStore {
  readonly #pool: pg.Pool
  readonly disputes: DisputeStore

  constructor(pool: pg.Pool) {
    this.#pool = pool
    this.disputes = new DisputeStore(pool)
  }

  async check(): Promise<void> {
    await this.#pool.query('select 1')
  }

  /** Writes the intent, or returns what a repeated message finds. */
  async beginPayment(
    start: PaymentStart,
    { nowMs, whyNot }: { readonly nowMs: number; readonly whyNot: string | undefined },
  ): Promise<StoredPayment> {
    await this.#pool.query(
      `insert into payments (transaction_id, start, amount_minor, currency, started_at, status, reason, look_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)
       on conflict do nothing`,
      [
        start.transactionId,
        JSON.stringify(start),
        start.amountMinor,
        start.currency,
        new Date(nowMs),
        whyNot === undefined ? 'starting' : 'declined',
        whyNot,
        whyNot === undefined ? new Date(nowMs + intentLeaseMs) : null,
      ],
    )
    const stored = await this.findPayment(start.transactionId)
    if (!stored) throw new Error('a payment that was just stored is missing')
    return stored
  }

  async findPayment(transactionId: string): Promise<StoredPayment | undefined> {
    const { rows } = await this.#pool.query<PaymentRow>('select * from payments where transaction_id = $1', [
      transactionId,
    ])
    return rows[0] && paymentOf(rows[0])
  }

  /** Stores the provider's state unless the stored one is further ahead, and returns the stored state. */
  async changePayment(
    { transactionId, start, status: knownStatus }: StoredPayment,
    said: ProviderPayment,
    { nowMs, notifies, looksAgain = false }: Change,
  ): Promise<StoredPayment> {
    return inTransaction(this.#pool, async (client) => {
      const before = await client.query<PaymentRow>(
        'select * from payments where transaction_id = $1 for update',
        [transactionId],
      )
      const [old] = before.rows
      if (!old) throw new Error(`the payment ${transactionId} is missing`)
      const { rows } = await client.query<PaymentRow>(
        `update payments
         set status      = $2,
             provider_id = coalesce(provider_id, $3),
             next_action = coalesce(next_action, $4),
             reference   = coalesce(reference, $5),
             reason      = $6,
             looks       = 0,
             look_at     = case when $8 then $7::timestamptz + $9 * interval '1 ms'
                                when look_at > $7 then null
                                else look_at end
         where transaction_id = $1
         returning *`,
        [
          transactionId,
          ...(mayBecome(old.status, said.status)
            ? [
                said.status,
                said.providerId,
                said.status === 'pending' ? JSON.stringify(said.nextAction) : null,
                said.status === 'approved' || said.status === 'authorized' ? said.reference : null,
                said.status === 'declined' ? said.reason : null,
              ]
            : [old.status, null, null, null, old.reason]),
          new Date(nowMs),
          looksAgain,
          lookAgainLaterMs,
        ],
      )
      const [changed] = rows
      if (!changed) throw new Error(`the payment ${transactionId} is missing`)
      if (notifies && changed.status !== knownStatus)
        await addNotification(client, start.notifyUrl, { type: 'payment.changed', transactionId }, nowMs)
      return paymentOf(changed)
    })
  }

  /**
   * Writes the intent of a refund, or declines it. The payment is locked, so that concurrent refunds never exceed it.
   * Undefined if the payment does not exist.
   */
  async beginRefund(
    asked: RailMessageOf<'refund.start'>,
    nowMs: number,
    whyNotHere: (refund: StoredRefund) => string | undefined,
  ): Promise<StoredRefund | undefined> {
    return inTransaction(this.#pool, async (client) => {
      const payments = await client.query<PaymentRow>(
        'select * from payments where transaction_id = $1 for update',
        [asked.transactionId],
      )
      const [payment] = payments.rows
      const known = await client.query<RefundRow>('select * from refunds where refund_id = $1', [
        asked.refundId,
      ])
      if (known.rows[0]) return refundOf(known.rows[0])
      if (!payment) return undefined
      const { rows: sums } = await client.query<{ minor: string }>(
        `select coalesce(sum(amount_minor), 0) as minor from refunds
         where transaction_id = $1 and status <> 'declined'`,
        [asked.transactionId],
      )
      const leftMinor = BigInt(payment.amount_minor) - BigInt(sums[0]?.minor ?? '0')
      const refund: StoredRefund = {
        refundId: asked.refundId,
        transactionId: asked.transactionId,
        amountMinor: BigInt(asked.amountMinor),
        currency: asked.currency,
        note: asked.reason,
        startedAtMs: nowMs,
        status: 'starting',
        providerId: undefined,
        reference: undefined,
        reason: undefined,
        notice: noNotice,
      }
      const whyNot = whyNotRefunded(payment, refund, leftMinor) ?? whyNotHere(refund)
      await client.query(
        `insert into refunds (refund_id, transaction_id, amount_minor, currency, note, started_at, status, reason, look_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          refund.refundId,
          refund.transactionId,
          asked.amountMinor,
          refund.currency,
          refund.note,
          new Date(nowMs),
          whyNot === undefined ? 'starting' : 'declined',
          whyNot,
          whyNot === undefined ? new Date(nowMs + intentLeaseMs) : null,
        ],
      )
      return whyNot === undefined ? refund : { ...refund, status: 'declined', reason: whyNot }
    })
  }

  /** Finds the transactionId, refundId or disputeId by the provider's id or number, or by our own. */
  async findOurIds(given: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.#pool.query<{ given: string; ours: string }>(
      `select g.given, coalesce(d.dispute_id, p.transaction_id, r.refund_id) as ours
         from unnest($1::text[]) as g (given)
         left join payments p on g.given in (p.transaction_id, p.provider_id, p.reference)
         left join refunds r on g.given in (r.refund_id, r.provider_id)
         left join disputes d on g.given = d.dispute_id
        where coalesce(d.dispute_id, p.transaction_id, r.refund_id) is not null`,
      [given],
    )
    return new Map(rows.map(({ given: each, ours }) => [each, ours]))
  }

  /** Stores the report's name under the day of its first announcement. */
  async noteReport(name: string, nowMs: number): Promise<void> {
    await this.#pool.query('insert into reports (name, day) values ($1, $2) on conflict do nothing', [
      name,
      new Date(nowMs).toISOString().slice(0, 10),
    ])
  }

  async findReports(day: string): Promise<string[]> {
    const { rows } = await this.#pool.query<{ name: string }>(
      'select name from reports where day = $1 order by name',
      [day],
    )
    return rows.map(({ name }) => name)
  }

  async findRefund(refundId: string): Promise<StoredRefund | undefined> {
    const { rows } = await this.#pool.query<RefundRow>('select * from refunds where refund_id = $1', [
      refundId,
    ])
    return rows[0] && refundOf(rows[0])
  }

  async changeRefund(
    { refundId, transactionId }: StoredRefund,
    said: ProviderRefund,
    { nowMs, notifies }: Change,
  ): Promise<StoredRefund> {
    return inTransaction(this.#pool, async (client) => {
      const before = await client.query<RefundRow>('select * from refunds where refund_id = $1 for update', [
        refundId,
      ])
      const [old] = before.rows
      if (!old) throw new Error(`the refund ${refundId} is missing`)
      const isOpen = old.status === 'starting' || old.status === 'submitted'
      const { rows } = await client.query<RefundRow>(
        `update refunds
         set status      = $2,
             provider_id = coalesce(provider_id, $3),
             reference   = coalesce(reference, $4),
             reason      = coalesce(reason, $5),
             looks       = 0,
             look_at     = case when look_at > $6 then null else look_at end
         where refund_id = $1
         returning *`,
        [
          refundId,
          ...(isOpen
            ? [said.status, said.providerId, said.reference, said.status === 'declined' ? said.reason : null]
            : [old.status, null, null, null]),
          new Date(nowMs),
        ],
      )
      const [changed] = rows
      if (!changed) throw new Error(`the refund ${refundId} is missing`)
      if (notifies && changed.status !== old.status) {
        const payments = await client.query<PaymentRow>('select * from payments where transaction_id = $1', [
          transactionId,
        ])
        const { notifyUrl } = payments.rows[0]?.start ?? {}
        if (notifyUrl) await addNotification(client, notifyUrl, { type: 'refund.changed', refundId }, nowMs)
      }
      return refundOf(changed)
    })
  }

  /** Commits before the webhook is acknowledged. Also records money for a cancelled payment. */
  async wakePayment(
    by: { transactionId: string } | { providerId: string },
    notice: Notice = noNotice,
  ): Promise<void> {
    const [column, id] =
      'transactionId' in by
        ? (['transaction_id', by.transactionId] as const)
        : (['provider_id', by.providerId] as const)
    await this.#pool.query(
      `update payments set look_at = '-infinity', looks = 0, notice = notice || $2
       where ${column} = $1 and status in ('starting', 'pending', 'submitted', 'authorized', 'cancelled')`,
      [id, JSON.stringify(notice)],
    )
  }

  async wakeRefund(
    by: { refundId: string } | { providerId: string } | { transactionId: string },
    notice: Notice = noNotice,
  ): Promise<void> {
    const [column, id] =
      'refundId' in by
        ? (['refund_id', by.refundId] as const)
        : 'providerId' in by
          ? (['provider_id', by.providerId] as const)
          : (['transaction_id', by.transactionId] as const)
    await this.#pool.query(
      `update refunds set look_at = '-infinity', looks = 0, notice = notice || $2
       where ${column} = $1 and status in ('starting', 'submitted')`,
      [id, JSON.stringify(notice)],
    )
  }

  /** Claims what is due and postpones it, in case this process ends before it is done. */
  async claimPayments(nowMs: number, limit: number): Promise<string[]> {
    return this.#claim('payments', 'transaction_id', nowMs, limit)
  }

  async claimRefunds(nowMs: number, limit: number): Promise<string[]> {
    return this.#claim('refunds', 'refund_id', nowMs, limit)
  }

  async #claim(table: 'payments' | 'refunds', key: string, nowMs: number, limit: number): Promise<string[]> {
    const { rows } = await this.#pool.query<{ id: string }>(
      `update ${table}
       set looks = looks + 1,
           look_at = $1::timestamptz + least($3 * power(2, least(looks, 20)), $4) * interval '1 ms'
       where ${key} in (select ${key} from ${table} where look_at <= $1 order by look_at limit $2 for update skip locked)
       returning ${key} as id`,
      [new Date(nowMs), limit, Math.max(lookAgainMs.first, intentLeaseMs), lookAgainMs.most],
    )
    return rows.map(({ id }) => id)
  }

  /** Removes the scheduled query of a final payment or refund. */
  async dropLook(table: 'payments' | 'refunds', id: string): Promise<void> {
    const key = table === 'payments' ? 'transaction_id' : 'refund_id'
    await this.#pool.query(
      `update ${table} set look_at = null
       where ${key} = $1 and (status in ('approved', 'declined') or (status = 'cancelled' and provider_id is null))`,
      [id],
    )
  }

  async claimNotifications(nowMs: number, limit: number): Promise<DueNotification[]> {
    const { rows } = await this.#pool.query<{
      id: string
      notify_url: string
      body: string
      attempts: number
    }>(
      `update notifications
       set attempts = attempts + 1,
           send_at = $1::timestamptz + least($3 * power(2, least(attempts, 20)), $4) * interval '1 ms'
       where id in (select id from notifications where send_at <= $1 order by send_at limit $2 for update skip locked)
       returning id, notify_url, body, attempts`,
      [new Date(nowMs), limit, notifyAgainMs.first, notifyAgainMs.most],
    )
    return rows.map(({ notify_url: notifyUrl, ...rest }) => ({ notifyUrl, ...rest }))
  }

  async removeNotification(id: string): Promise<void> {
    await this.#pool.query('delete from notifications where id = $1', [id])
  }
}

/** Whether this status may follow. A cancelled payment can only become paid. */
function mayBecome(from: PaymentStatus, to: PaymentStatus): boolean {
  if (from === to) return false
  if (from === 'approved' || from === 'declined') return false
  if (from === 'cancelled') return to === 'approved'
  if (from === 'authorized') return to === 'approved' || to === 'declined' || to === 'cancelled'
  return !(from === 'submitted' && to === 'pending')
}

function whyNotRefunded(payment: PaymentRow, refund: StoredRefund, leftMinor: bigint): string | undefined {
  if (payment.status !== 'approved') return 'The payment was not paid.'
  if (payment.currency !== refund.currency) return `The payment was made in ${payment.currency}.`
  return refund.amountMinor > leftMinor ? 'The refund is more than what is left of the payment.' : undefined
}

interface PaymentRow {
  readonly transaction_id: string
  readonly start: PaymentStart
  readonly amount_minor: string
  readonly currency: string
  readonly started_at: Date
  readonly status: PaymentStatus
  readonly provider_id: string | null
  readonly next_action: NextAction | null
  readonly reference: string | null
  readonly reason: string | null
  readonly notice: Notice
}

const paymentOf = (row: PaymentRow): StoredPayment => ({
  transactionId: row.transaction_id,
  start: row.start,
  amountMinor: BigInt(row.amount_minor),
  currency: row.currency,
  startedAtMs: row.started_at.getTime(),
  status: row.status,
  providerId: row.provider_id ?? undefined,
  nextAction: row.next_action ?? undefined,
  reference: row.reference ?? undefined,
  reason: row.reason ?? undefined,
  notice: row.notice,
})

interface RefundRow {
  readonly refund_id: string
  readonly transaction_id: string
  readonly amount_minor: string
  readonly currency: string
  readonly note: string | null
  readonly started_at: Date
  readonly status: RefundStatus
  readonly provider_id: string | null
  readonly reference: string | null
  readonly reason: string | null
  readonly notice: Notice
}

const refundOf = (row: RefundRow): StoredRefund => ({
  refundId: row.refund_id,
  transactionId: row.transaction_id,
  amountMinor: BigInt(row.amount_minor),
  currency: row.currency,
  note: row.note ?? undefined,
  startedAtMs: row.started_at.getTime(),
  status: row.status,
  providerId: row.provider_id ?? undefined,
  reference: row.reference ?? undefined,
  reason: row.reason ?? undefined,
  notice: row.notice,
})
