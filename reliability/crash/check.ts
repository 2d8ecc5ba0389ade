// After the last kill: what the client was told, what the database holds and what the listener received must agree.

import { verifyLedger } from '../../packages/gateway/src/finance/overview/store/verify-ledger.ts'
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { type BankRecord, checkBank } from '../simulation/invariants/bank.ts'
import { checkEvents } from '../simulation/invariants/callbacks.ts'
import { checkCaptures } from '../simulation/invariants/captures.ts'
import { checkFeed } from '../simulation/invariants/feed.ts'
import { checkHistories, checkRefundSums, checkRest, checkTold } from '../simulation/invariants/violations.ts'
import type { Journal } from '../simulation/journal.ts'
import type { Followers } from './followers.ts'
import type { Receiver } from './receiver.ts'

interface Told {
  readonly journal: Journal
  readonly receiver: Receiver
  readonly bank: BankRecord | undefined
  readonly followers: Followers | undefined
}

export async function findCrashViolations(
  pool: Pool,
  { journal, receiver, bank, followers }: Told,
): Promise<string[]> {
  const { findings } = await verifyLedger(pool)
  return [
    ...findings.map(({ claim, examples }) => `not so: ${claim} (${examples.join(', ')})`),
    ...(await checkTold(pool, journal)),
    ...(await checkRest(pool)),
    ...(await checkHistories(pool)),
    ...(await checkRefundSums(pool)),
    ...(await checkCaptures(pool, journal)),
    ...(bank ? await checkBank(pool, bank) : []),
    ...(await checkEvents(pool)),
    ...receiver.refused.map((why) => `the listener could not open a callback: ${why}`),
    ...(await checkArrivals(pool, receiver, "endpoint_id = ''")),
    ...(followers ? await checkFollowers(pool, followers) : []),
  ]
}

/** The endpoint had every event that it should, and the reader of the feed each once and in order. */
async function checkFollowers(pool: Pool, followers: Followers): Promise<string[]> {
  return [
    ...followers.refused.map((why) => `the endpoint refused a webhook: ${why}`),
    ...(await checkArrivals(pool, followers, "endpoint_id <> ''")),
    ...(await checkFeed(pool, followers)),
  ]
}

async function checkArrivals(
  pool: Pool,
  { arrivals }: Pick<Receiver, 'arrivals'>,
  which: string,
): Promise<string[]> {
  const { rows } = await pool.query<{ callback_id: string; event_name: string; is_delivered: boolean }>(
    `select callback_id, event_name, delivered_at is not null as is_delivered from callbacks_with_progress where ${which}`,
  )
  const stored = new Set(rows.map((row) => row.callback_id))
  return [
    ...rows
      .filter(({ callback_id, is_delivered }) => !is_delivered || !arrivals.has(callback_id))
      .map(({ callback_id, event_name }) => `callback ${callback_id} (${event_name}) did not arrive`),
    ...[...arrivals.keys()]
      .filter((id) => !stored.has(id))
      .map((id) => `callback ${id} arrived and is not stored`),
  ]
}

/** What is still to do, so that the end can be waited for. */
export async function countWork(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ work: string }>(`
select (select count(*) from callback_queue) + (select count(*) from authorizations) + (select count(*) from rail_tasks)
     + (select count(*) from payout_runs where closed_at is null)
     + (select count(*) from orders where status = 'pending' and expires_at <= extract(epoch from now()) * 1000) as work`)
  return Number(rows[0]?.work)
}

/** What the dead had claimed comes back when their claims run out; this takes the time until then out of a test. */
export async function endClaims(pool: Pool): Promise<void> {
  await pool.query('update callback_queue set claimed_until = 0 where claim_id is not null')
  await pool.query('update authorizations set due_at = 0 where claim_id is not null')
  await pool.query('update rail_tasks set due_at = 0 where claim_id is not null')
}
