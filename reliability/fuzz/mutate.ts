// Makes new inputs out of old ones: by their bytes, whatever they are, and by the structure of JSON where they have one,
// so that most of what comes out still reaches the checks behind the parser.
import type { Seeded } from '../simulation/seeded.ts'
import { nastyLiterals, nastyTexts } from './nasty.ts'

export const maxInputBytes = 300 * 1024

export interface Mutator {
  /** `others` are inputs to take pieces from. */
  mutate(input: Buffer, others: readonly Buffer[]): Buffer
}

export function makeMutator(seeded: Seeded, words: readonly string[] = []): Mutator {
  const texts = [...nastyTexts, ...words, ...words]

  return {
    mutate(input, others) {
      let changed = input
      for (let times = seeded.pick([1, 1, 1, 2, 3, 6]); times > 0; times--)
        changed = (seeded.isLucky(0.7) ? byStructure(changed) : undefined) ?? byBytes(changed, others)
      return changed.subarray(0, maxInputBytes)
    },
  }

  function byStructure(input: Buffer): Buffer | undefined {
    const places = placesOf(input.toString('latin1'))
    if (places.length === 0) return undefined
    const { start, end, kind } = seeded.pick(places)
    const old = input.subarray(start, end)
    const put = (...pieces: (Buffer | string)[]) =>
      Buffer.concat([
        input.subarray(0, start),
        ...pieces.map((piece) => Buffer.from(piece)),
        input.subarray(end),
      ])
    // In place of a text that names something, mostly another text.
    switch (seeded.weighted({ text: 5, literal: 3, wrap: 1, repeat: 1, drop: 1, fresh: 2 })) {
      case 'text':
        return put(JSON.stringify(seeded.pick(texts)))
      case 'literal':
        return kind === 'key' ? put(JSON.stringify(seeded.pick(texts))) : put(seeded.pick(nastyLiterals))
      case 'wrap':
        return seeded.isLucky(0.5) ? put('[', old, ']') : put('{"a":', old, '}')
      case 'repeat':
        return put(old, ',', old)
      case 'drop':
        return put('')
      case 'fresh':
        return kind === 'number'
          ? put(String(seeded.whole(-3, 2_000) / seeded.pick([1, 10, 100, 1000])))
          : put(JSON.stringify(`n-${seeded.whole(0, 1e9)}`))
    }
  }

  function byBytes(input: Buffer, others: readonly Buffer[]): Buffer {
    const at = seeded.whole(0, input.length)
    const length = seeded.whole(0, Math.min(input.length - at, seeded.pick([1, 4, 32, 1_000])))
    const [before, cut, after] = [
      input.subarray(0, at),
      input.subarray(at, at + length),
      input.subarray(at + length),
    ]
    switch (
      seeded.weighted({ flip: 3, remove: 2, double: 1, noise: 2, nasty: 2, splice: 2, cutOff: 1, many: 0.2 })
    ) {
      case 'flip': {
        const copy = Buffer.from(input)
        if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << seeded.whole(0, 7))
        return copy
      }
      case 'remove':
        return Buffer.concat([before, after])
      case 'double':
        return Buffer.concat([before, cut, cut, after])
      case 'noise':
        return Buffer.concat([before, seeded.bytes(seeded.whole(1, 8)), after])
      case 'nasty':
        return Buffer.concat([before, Buffer.from(seeded.pick([...texts, ...nastyLiterals])), after])
      case 'splice': {
        const other = others.length > 0 ? seeded.pick(others) : input
        return Buffer.concat([before, other.subarray(seeded.whole(0, other.length))])
      }
      case 'cutOff':
        return before
      case 'many':
        return Buffer.concat([
          before,
          Buffer.alloc(seeded.whole(1, maxInputBytes), cut.length > 0 ? cut : ' '),
          after,
        ])
    }
  }
}

interface Place {
  readonly start: number
  readonly end: number
  readonly kind: 'key' | 'text' | 'number' | 'other'
}

/** Where the keys and the values stand that hold no others. Good enough for what is not quite JSON any more. */
function placesOf(text: string): Place[] {
  if (text.length > 20_000) return []
  return [...text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|true|false|null/g)].map((found) => {
    const [whole, quoted, colon] = found
    const start = found.index
    const end = start + (quoted ?? whole).length
    const kind =
      quoted === undefined ? (/\d/.test(whole) ? 'number' : 'other') : colon === undefined ? 'text' : 'key'
    return { start, end, kind }
  })
}
