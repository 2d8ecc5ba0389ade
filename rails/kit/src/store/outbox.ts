// Transactions, and notifications that are written in them.
import { randomUUID } from 'node:crypto'
import type { RailNotification } from '@tillgate/protocol'
import type pg from 'pg'

export async function addNotification(
  client: pg.PoolClient,
  notifyUrl: string,
  notification: RailNotification,
  nowMs: number,
): Promise<void> {
  await client.query('insert into notifications (id, notify_url, body, send_at) values ($1, $2, $3, $4)', [
    randomUUID(),
    notifyUrl,
    JSON.stringify(notification),
    new Date(nowMs),
  ])
}

export async function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((cause: Error) => {
      broken = cause
    })
    throw error
  } finally {
    client.release(broken)
  }
}
