// Chance from a seed: the same seed gives the same numbers, for ever. Each part of a run draws from a stream of its own,
// so that one more draw in one place does not shift all others.
import { createHash } from 'node:crypto'

export interface Seeded {
  /** From 0 up to, but not including, 1. */
  fraction(): number
  /** A whole number from `least` to `most`, both possible. */
  whole(least: number, most: number): number
  isLucky(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
  /** Picks a name by its weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name
  bytes(count: number): Uint8Array
  stream(name: string): Seeded
}

export function makeSeeded(seed: string): Seeded {
  const next = sfc32(createHash('sha256').update(seed).digest())
  const fraction = () => next() / 2 ** 32
  const whole = (least: number, most: number) => least + Math.floor(fraction() * (most - least + 1))
  return {
    fraction,
    whole,
    isLucky: (probability) => fraction() < probability,
    pick(items) {
      const item = items[whole(0, items.length - 1)]
      if (item === undefined) throw new Error('there is nothing to pick from')
      return item
    },
    weighted(weights) {
      // Safe: the entries of a record with these names have these names.
      const entries = Object.entries(weights) as [keyof typeof weights, number][]
      let left = fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      const found = entries.find(([, weight]) => {
        left -= weight
        return left < 0
      })
      if (!found) throw new Error('the weights add up to nothing')
      return found[0]
    },
    bytes(count) {
      const bytes = Buffer.alloc(count)
      for (let index = 0; index < count; index++) bytes[index] = next() & 0xff
      return bytes
    },
    stream: (name) => makeSeeded(`${seed} ${name}`),
  }
}

/** The generator sfc32 by Chris Doty-Humphrey: small, quick, and good enough for any test. */
function sfc32(state: Buffer): () => number {
  let [a, b, c, counter] = [0, 4, 8, 12].map((offset) => state.readUInt32LE(offset)) as [
    number,
    number,
    number,
    number,
  ]
  return () => {
    const sum = (a + b + counter) >>> 0
    counter = (counter + 1) >>> 0
    a = (b ^ (b >>> 9)) >>> 0
    b = (c + (c << 3)) >>> 0
    c = (((c << 21) | (c >>> 11)) + sum) >>> 0
    return sum
  }
}
