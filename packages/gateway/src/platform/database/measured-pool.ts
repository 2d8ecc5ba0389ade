// Wraps a pool to measure each statement and transaction, including the wait for a connection.
import type { Pool } from './pool.ts'

export interface Measured {
  readonly kind: 'statement' | 'transaction'
  readonly startedAtMs: number
  readonly durationMs: number
  readonly error?: unknown
}

export function measuredPool(pool: Pool, report: (measured: Measured) => void): Pool {
  async function measure<Result>(kind: Measured['kind'], run: () => Promise<Result>): Promise<Result> {
    const startedAtMs = performance.now()
    const durationMs = () => performance.now() - startedAtMs
    try {
      const result = await run()
      report({ kind, startedAtMs, durationMs: durationMs() })
      return result
    } catch (error) {
      report({ kind, startedAtMs, durationMs: durationMs(), error })
      throw error
    }
  }
  return {
    ...pool,
    query: (statement, values) => measure('statement', () => pool.query(statement, values)),
    transaction: (work, options) => measure('transaction', () => pool.transaction(work, options)),
  }
}
