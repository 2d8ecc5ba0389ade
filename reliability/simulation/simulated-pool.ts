// A process's way to the real PostgreSQL, where every statement is a step of the scheduler and any of them may lose its
// connection: before it ran, after it ran, before COMMIT, or after a COMMIT whose answer never came.
import type { Pool, Queryable } from '../../packages/gateway/src/platform/database/pool.ts'
import type { Statement } from '../../packages/gateway/src/platform/database/prepared-names.ts'
import { CommitUnknown, deadlock } from '../../packages/gateway/src/platform/database/transient.ts'
import { codeOf } from '../../packages/gateway/src/platform/runtime/errors.ts'
import type { Owner, Scheduler } from './scheduler.ts'

export type ConnectionFate = 'holds' | 'lost_before' | 'lost_after'

export interface SimulatedPoolParts {
  readonly pool: Pool
  readonly owner: Owner
  readonly scheduler: Scheduler
  readonly connectionFate: (label: string) => ConnectionFate
  /** What is stored is not what it was. */
  readonly onStored: () => void
  /** PostgreSQL found transactions that wait for each other in a circle, and ended this statement's. */
  readonly onDeadlock: (label: string) => void
  readonly note: (line: string) => void
}

export interface SimulatedPool extends Pool {
  /** What the server does with the transactions of a client that is gone or does not move any more. */
  breakTransactions(): void
}

interface OpenTransaction {
  readonly client: Queryable
  isLost: boolean
  hasChanges: boolean
  /** A statement of it waits for a lock; whoever breaks the transaction leaves its end to that step. */
  isBusy: boolean
  commit(): Promise<unknown>
  rollback(): Promise<unknown>
}

export function simulatedPool(parts: SimulatedPoolParts): SimulatedPool {
  const { pool, owner, scheduler } = parts
  const open = new Set<OpenTransaction>()

  const fate = (label: string): ConnectionFate => {
    const decided = parts.connectionFate(label)
    if (decided !== 'holds') parts.note(`${owner.name} connection ${decided} at ${label}`)
    return decided
  }

  const lose = async (transaction: OpenTransaction | undefined): Promise<never> => {
    if (transaction) {
      transaction.isLost = true
      await transaction.rollback()
    }
    throw connectionLost()
  }

  const around = (target: Queryable, transaction?: OpenTransaction): Queryable => ({
    query(statement, values) {
      const label =
        typeof statement === 'string' ? firstWords(statement) : (statement.name ?? firstWords(statement.text))
      return scheduler.step(owner, label, async () => {
        if (transaction?.isLost) throw connectionLost()
        const decided = fate(label)
        if (decided === 'lost_before') return lose(transaction)
        if (transaction) transaction.isBusy = true
        const result = await target
          .query(prepared(statement, values))
          .catch((error: unknown) => {
            if (codeOf(error) === deadlock) parts.onDeadlock(label)
            if (transaction?.isLost) return lose(transaction)
            throw error
          })
          .finally(() => {
            if (transaction) transaction.isBusy = false
          })
        if (result.rowCount > 0 && !isRead(statement)) {
          if (transaction) transaction.hasChanges = true
          else parts.onStored()
        }
        if (transaction?.isLost) return lose(transaction)
        if (decided === 'lost_after') return lose(transaction)
        // Its type parameter is the caller's own, and the result is the target's to the same question.
        return result as never
      })
    },
  })

  return {
    ...pool,
    ...around(pool),
    async transaction(work, options) {
      const transaction = await scheduler.step(owner, 'begin', async () => {
        const begun = await begin(pool, options)
        // Here and not where its owner gets it: the owner may be dead by then.
        open.add(begun)
        return begun
      })
      try {
        const result = await work(around(transaction.client, transaction))
        await scheduler.step(owner, 'commit', () => commit(transaction))
        return result
      } catch (error) {
        await scheduler.step(owner, 'rollback', () => transaction.rollback())
        throw error
      } finally {
        open.delete(transaction)
      }
    },
    breakTransactions() {
      for (const transaction of open) {
        transaction.isLost = true
        if (!transaction.isBusy) scheduler.aside(owner, 'rollback', () => transaction.rollback())
      }
      open.clear()
    },
  }

  async function commit(transaction: OpenTransaction): Promise<void> {
    if (transaction.isLost) throw connectionLost()
    const decided = fate('commit')
    if (decided === 'lost_before') {
      await transaction.rollback()
      throw new CommitUnknown(new Error('lost before COMMIT arrived'))
    }
    await transaction.commit()
    if (transaction.hasChanges) parts.onStored()
    if (decided === 'lost_after') throw new CommitUnknown(new Error('lost after COMMIT was done'))
  }
}

/** A real transaction that stays open until it is told how to end. */
async function begin(
  pool: Pool,
  options?: { readonly statementTimeoutMs?: number },
): Promise<OpenTransaction> {
  const begun = Promise.withResolvers<Queryable>()
  const end = Promise.withResolvers<void>()
  const done = pool.transaction(async (client) => {
    begun.resolve(client)
    await end.promise
  }, options)
  done.catch(begun.reject)
  return {
    client: await begun.promise,
    isLost: false,
    hasChanges: false,
    isBusy: false,
    commit() {
      end.resolve()
      return done
    },
    rollback() {
      end.reject(new Error('rolled back'))
      return done.catch(() => {})
    },
  }
}

function connectionLost(): Error {
  return Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' })
}

/** All under names: over a run, parsing and planning would be a third of the server's work. */
function prepared(statement: string | Statement, values: readonly unknown[] = []): Statement {
  return typeof statement === 'string'
    ? { name: 'simulated', text: statement, values }
    : { name: 'simulated', values, ...statement }
}

/** It begins with `select` and so changes nothing: a statement that writes begins with another word, or with `with`. */
function isRead(statement: string | Statement): boolean {
  return /^\s*select\b/i.test(typeof statement === 'string' ? statement : statement.text)
}

function firstWords(text: string): string {
  return text.trim().split(/\s+/).slice(0, 3).join(' ')
}
