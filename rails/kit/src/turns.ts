// Runs one piece of work per key at a time, in order of arrival. Between processes, idempotency keys and guarded
// updates already prevent conflicts; within one process, taking turns saves requests.
export type InTurn = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>

export function makeTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const mine = (last.get(key) ?? Promise.resolve()).then(work, work)
    last.set(key, mine)
    const done = () => {
      if (last.get(key) === mine) last.delete(key)
    }
    mine.then(done, done)
    return mine
  }
}
