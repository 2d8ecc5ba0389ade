// Node (24.21) keeps all that it reads from the cache of compiled code, each piece in a buffer of up to twice its size,
// until the process ends or the cache is written: 13 MB for a gateway. Writing it between the parts of a program lets
// the next part have that memory; there is nothing to write unless the code is new. It may go when a module that is
// loaded keeps nothing (compiled-code.test.ts).
import { flushCompileCache } from 'node:module'

/** Loads a part of the program, without what was kept for loading it or what came before it. */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  flushCompileCache()
  const part = await load()
  flushCompileCache()
  return part
}
