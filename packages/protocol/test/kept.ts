// How much of the heap some work left behind that a small collection, of what is young, does not take away.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: (options: { type: 'major' | 'minor' }) => void = runInNewContext('gc')

export async function bytesKept(work: () => Promise<unknown>): Promise<number> {
  collect({ type: 'major' })
  const before = oldBytes()
  await work()
  // What is alive at the first is old after the second.
  collect({ type: 'minor' })
  collect({ type: 'minor' })
  return oldBytes() - before
}

/** Of several rounds: V8 begins with it when it has seen a function a few times, and collects in between as it likes. */
export async function mostBytesKept(
  work: () => Promise<unknown>,
  { enough }: { enough: number },
): Promise<number> {
  let most = 0
  for (let round = 0; round < 10 && most < enough; round++) most = Math.max(most, await bytesKept(work))
  return most
}

function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => space_name === 'old_space' || space_name === 'large_object_space')
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0)
}
