// Limits concurrent work; the rest waits in order. Queues that reject waiting work are in admission.
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

/** Spreads bulk work that no client waits for: one item per turn of the event loop. */
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
