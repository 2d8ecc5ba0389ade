// How long some work takes at the least, of many rounds: others on the machine only ever make it longer.
const rounds = 20
const timesARound = 2_000

export function leastTimeMs(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now()
    for (let time = 0; time < timesARound; time++) work()
    least = Math.min(least, performance.now() - startedAt)
  }
  return least
}
