// The edit distance between names, for suggestions.

/** Insertions, deletions and substitutions (Levenshtein), row by row. */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1]
    for (let at = 0; at < to.length; at++) {
      const changed = (row[at] ?? 0) + (letter === to[at] ? 0 : 1)
      next.push(Math.min(changed, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}

/** A sentence with the most similar known name and a leading space; empty if none is similar. */
export function didYouMean(name: string, known: readonly string[]): string {
  const [nearest] = known
    .map((each) => ({ each, distance: editDistance(name, each) }))
    .toSorted((a, b) => a.distance - b.distance)
  if (nearest === undefined) return ''
  // Names that begin alike, such as service.trade.create, are near only if their last parts are.
  const lastPart = nearest.each.slice(nearest.each.lastIndexOf('.') + 1)
  const isNear = nearest.distance <= Math.max(2, lastPart.length / 4)
  return isNear ? ` Did you mean ${nearest.each}?` : ''
}
