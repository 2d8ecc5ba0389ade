// Memoizes a pure function by a text key, with a size limit: the oldest result is evicted.
import { BoundedMap } from './bounded-map.ts'

export function remember<Args extends readonly unknown[], Answer>(
  answer: (...args: Args) => Answer,
  { keyOf, most }: { keyOf: (...args: Args) => string; most: number },
): (...args: Args) => Answer {
  const known = new BoundedMap<string, { readonly answer: Answer }>(most)
  return (...args) => {
    const key = keyOf(...args)
    const found = known.get(key)
    if (found) return found.answer
    const fresh = { answer: answer(...args) }
    known.set(key, fresh)
    return fresh.answer
  }
}
