// What must be true of the feed of events: whoever followed it from the beginning has read every change of an order and
// the end of every refund, each once, without a gap, and those of one order in the order in which they happened.

import type { FeedEvent } from '../../../packages/gateway/src/core/callbacks/events/rules/event.ts'
import type { Pool } from '../../../packages/gateway/src/platform/database/pool.ts'

export interface FeedRecord {
  /** As they were read. */
  readonly events: readonly FeedEvent[]
}

export async function checkFeed(pool: Pool, { events }: FeedRecord): Promise<string[]> {
  const { rows } = await pool.query<{ key: string }>(`
select payment_id || ' ' || to_status as key from order_history
 union all
select refund_id || ' ' || status from refunds where status <> 'refunding'`)
  // A dispute may be won and lost again, each time with an event of its own.
  const isOfDispute = ({ eventName }: FeedEvent) => eventName.startsWith('payment.dispute')
  const happened = new Set(rows.map(({ key }) => key))
  const read = new Set<string>()
  const violations: string[] = []
  const lastStep = new Map<string, number>()
  let position = 0
  for (const event of events) {
    const key = keyOf(event)
    if (event.position !== ++position)
      violations.push(`the feed goes from ${position - 1} to ${event.position}`)
    position = event.position
    if (read.has(key)) violations.push(`the feed tells ${key} twice`)
    if (isOfDispute(event)) continue
    if (!happened.has(key)) violations.push(`the feed tells ${key}, which did not happen`)
    read.add(key)
    const step = steps.findIndex((prefix) => event.eventName.startsWith(prefix))
    if (step < (lastStep.get(event.paymentId) ?? 0)) violations.push(`the feed tells ${key} too late`)
    lastStep.set(event.paymentId, step)
  }
  return [
    ...violations,
    ...[...happened].filter((key) => !read.has(key)).map((key) => `the feed lacks ${key}`),
  ]
}

const steps = ['payment.order.confirming', 'payment.order', 'payment.refund'] as const

function keyOf({ paymentId, refundId, body }: FeedEvent): string {
  // Safe: the gateway wrote it.
  const { status } = JSON.parse(body) as { status: string }
  return `${refundId ?? paymentId} ${status}`
}
