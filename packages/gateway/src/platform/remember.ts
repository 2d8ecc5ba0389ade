// Remembers what a pure function answered, by one text for its arguments, up to a bound: then all is forgotten and
// comes back as it is asked for.

export function remember<Args extends readonly unknown[], Answer>(
  answer: (...args: Args) => Answer,
  { keyOf, most }: { keyOf: (...args: Args) => string; most: number },
): (...args: Args) => Answer {
  const known = new Map<string, { readonly answer: Answer }>()
  return (...args) => {
    const key = keyOf(...args)
    const found = known.get(key)
    if (found) return found.answer
    const fresh = { answer: answer(...args) }
    if (known.size >= most) known.clear()
    known.set(key, fresh)
    return fresh.answer
  }
}
