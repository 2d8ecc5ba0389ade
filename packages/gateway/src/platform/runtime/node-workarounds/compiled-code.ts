// Frees the buffers in which Node (24.21) keeps everything read from the compile cache, 13 MB for a gateway, by
// flushing the cache between parts of the program. Remove this workaround once Node no longer keeps
// these buffers (compiled-code.test.ts).
import { flushCompileCache } from 'node:module'

export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  flushCompileCache()
  const part = await load()
  flushCompileCache()
  return part
}
