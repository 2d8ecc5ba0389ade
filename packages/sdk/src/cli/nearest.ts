// What somebody meant who mistyped a name: the nearest one, when it is near enough.
import { editDistance } from '@tillgate/protocol'

/** Undefined where nothing is within two letters, or where half of the word would have to change. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, distance: editDistance(word, name) }))
    .sort((a, b) => a.distance - b.distance)
  return best && best.distance <= Math.min(2, word.length / 2) ? best.name : undefined
}
