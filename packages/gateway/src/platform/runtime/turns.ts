// Work of which only so much is done at once; the rest waits, first come, first served. Where who waits is to be bounded or
// refused, admission has queues that do so.
import type { MachineTime } from './timer.ts'

export type TakeTurn = <Result>(work: () => Promise<Result>) => Promise<Result>

export function makeTurns(atOnce: number): TakeTurn {
  let underWay = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (underWay < atOnce) underWay++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else underWay--
    }
  }
}

/**
 * For work that comes in hundreds at once and that nobody waits for: one is done in a turn of the event loop, and between
 * two turns everybody else is served.
 */
export function makeOneInATurn(nextTurn: MachineTime['nextTurn']): (work: () => void) => void {
  const waiting: (() => void)[] = []
  const go = () => {
    const work = waiting.shift()
    if (waiting.length > 0) nextTurn(go)
    work?.()
  }
  return (work) => {
    if (waiting.push(work) === 1) nextTurn(go)
  }
}
