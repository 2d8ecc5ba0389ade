// Work of which only so much is done at once; the rest waits, first come, first served. Where who waits is to be bounded or
// refused, admission has queues that do so.

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
