// What a rail stores of disputes: which payments to look at, and what the gateway was told. Their state is the provider's.
import { disputeVersion } from '@tillgate/protocol'
import type pg from 'pg'
import type { Notice, ProviderDispute, StoredPayment } from '../provider.ts'
import { addNotification, inTransaction } from './outbox.ts'

const lookAgainMs = { first: 20_000, most: 10 * 60_000 } as const
/** A week: a webhook may come before its payment is known, or concern a payment that is not ours. */
const maxLooks = 1_000

export class DisputeStore {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /** `of`: our id or the provider's number of the payment. Commits before the webhook is acknowledged. */
  async wake(of: string, notice: Notice): Promise<void> {
    await this.#pool.query(
      `insert into disputed_payments (of, notice, look_at) values ($1, $2, '-infinity')
       on conflict (of) do update
       set notice = disputed_payments.notice || excluded.notice, look_at = '-infinity', looks = 0`,
      [of, JSON.stringify(notice)],
    )
  }

  /** What signed webhooks said about the payment's disputes. */
  async noticeOf(of: readonly string[]): Promise<Notice> {
    const { rows } = await this.#pool.query<{ notice: Notice }>(
      'select notice from disputed_payments where of = any($1) order by of',
      [of],
    )
    return Object.assign({}, ...rows.map(({ notice }) => notice))
  }

  /** Claims what is due and postpones it. `transactionId` is undefined while no payment has this number. */
  async claim(
    nowMs: number,
    limit: number,
  ): Promise<{ readonly of: string; readonly transactionId: string | undefined }[]> {
    const { rows } = await this.#pool.query<{ of: string; ours: string | null }>(
      `update disputed_payments d
       set looks = looks + 1,
           look_at = case when looks < $5
                          then $1::timestamptz + least($3 * power(2, least(looks, 20)), $4) * interval '1 ms' end
       where of in (select of from disputed_payments where look_at <= $1 order by look_at limit $2 for update skip locked)
       returning of, (select transaction_id from payments p where d.of in (p.transaction_id, p.provider_id, p.reference)) as ours`,
      [new Date(nowMs), limit, lookAgainMs.first, lookAgainMs.most, maxLooks],
    )
    return rows.map(({ of, ours }) => ({ of, transactionId: ours ?? undefined }))
  }

  /** Keeps a look that a webhook scheduled meanwhile. */
  async dropLook(of: string, nowMs: number): Promise<void> {
    await this.#pool.query('update disputed_payments set look_at = null where of = $1 and look_at > $2', [
      of,
      new Date(nowMs),
    ])
  }

  /** Notifies the gateway of each state that it was not told. */
  async tell(
    { transactionId, start }: StoredPayment,
    disputes: readonly ProviderDispute[],
    nowMs: number,
  ): Promise<void> {
    await inTransaction(this.#pool, async (client) => {
      for (const { disputeId, status } of disputes) {
        const { rowCount } = await client.query(
          `insert into disputes (dispute_id, transaction_id, status) values ($1, $2, $3)
           on conflict (dispute_id) do update set status = excluded.status
             where disputes.status <> excluded.status`,
          [disputeId, transactionId, status],
        )
        if (rowCount === 0) continue
        const type = `dispute.${status === 'open' ? 'opened' : status}` as const
        const notification = { type, version: disputeVersion, disputeId, transactionId }
        await addNotification(client, start.notifyUrl, notification, nowMs)
      }
    })
  }
}
