// How many passwords and PINs are hashed meanwhile. The work is counted, because a clock says little where tests run side
// by side.
import { createHook } from 'node:async_hooks'

export async function hashesDuring(work: () => Promise<unknown>): Promise<number> {
  let hashes = 0
  const counting = createHook({
    init(_id, type) {
      if (type === 'SCRYPTREQUEST') hashes++
    },
  }).enable()
  try {
    await work()
    return hashes
  } finally {
    counting.disable()
  }
}
