// Suggests the most similar name for a mistyped one.
import { editDistance } from '@tillgate/protocol'

/** Undefined if no name is within two letters, or half of the word would change. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, distance: editDistance(word, name) }))
    .sort((a, b) => a.distance - b.distance)
  return best && best.distance <= Math.min(2, word.length / 2) ? best.name : undefined
}
