// pg-boss, as far as the benchmarks use it.
import { importYardstick } from './yardsticks.ts'

interface Boss {
  start(): Promise<unknown>
  stop(options: object): Promise<void>
  createQueue(name: string): Promise<void>
  insert(name: string, jobs: readonly object[]): Promise<unknown>
  fetch(name: string, options: { batchSize: number }): Promise<{ id: string; data: { body: string } }[]>
  complete(name: string, ids: readonly string[]): Promise<unknown>
}

export const bossQueue = 'callbacks'

export async function openBoss(connectionString: string): Promise<Boss> {
  const { PgBoss } = await importYardstick<{ PgBoss: new (options: object) => Boss }>('pg-boss')
  const boss = new PgBoss({ connectionString, max: 10, supervise: false, schedule: false })
  await boss.start()
  return boss
}
