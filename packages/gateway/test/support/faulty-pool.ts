// A pool that fails at one chosen point: before a statement, after it, before a commit, or after a commit whose answer
// is then lost. Either the whole process dies there, or only the connection does.
import type { Pool, Queryable } from '../../src/platform/database/pool.ts'
import { CommitUnknown } from '../../src/platform/database/transient.ts'

export interface Fault {
  /** The point at which it fails, counted from 1. */
  readonly atPoint: number
  /** `process`: nothing goes on afterwards. `connection`: the next statement finds a new one. */
  readonly dies: 'process' | 'connection'
}

export interface FaultyPool {
  readonly pool: Pool
  /** Whether the point was reached. */
  hasFailed(): boolean
}

export function faultyPool(pool: Pool, { atPoint, dies }: Fault): FaultyPool {
  let point = 0
  let failed = false

  const pass = (makeError: () => Error): void => {
    if (failed && dies === 'process') throw connectionLost()
    point += 1
    if (point !== atPoint) return
    failed = true
    throw makeError()
  }

  const around = (target: Queryable): Queryable => ({
    async query(statement, values) {
      pass(connectionLost)
      const result = await target.query(statement, values)
      pass(connectionLost)
      // Its type parameter is the caller's own, and the result is the target's to the same question.
      return result as never
    },
  })

  return {
    hasFailed: () => failed,
    pool: {
      ...pool,
      ...around(pool),
      async transaction(work, options) {
        pass(connectionLost)
        const lostBeforeCommit = new CommitUnknown(new Error('lost before COMMIT arrived'))
        const result = await pool.transaction(async (transaction) => {
          const done = await work(around(transaction))
          pass(() => lostBeforeCommit)
          return done
        }, options)
        pass(() => new CommitUnknown(new Error('lost after COMMIT was done')))
        return result
      },
    },
  }
}

function connectionLost(): Error {
  return Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' })
}
