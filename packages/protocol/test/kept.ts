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

function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => space_name === 'old_space' || space_name === 'large_object_space')
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0)
}
