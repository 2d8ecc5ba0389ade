// What somebody meant who mistyped a name: the nearest one, when it is near enough.

/** Undefined where nothing is within two letters, or where half of the word would have to change. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, distance: distanceOf(word, name) }))
    .sort((a, b) => a.distance - b.distance)
  return best && best.distance <= Math.min(2, word.length / 2) ? best.name : undefined
}

/** Letters to add, leave out or change (Levenshtein), row by row. */
function distanceOf(from: string, to: string): number {
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
