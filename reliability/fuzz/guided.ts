// Fuzzing that learns: inputs that reached code which no other one reached are kept and changed further. Coverage is
// asked for once a batch, because asking costs more than most inputs do.
import type { Seeded } from '../simulation/seeded.ts'
import type { Coverage } from './coverage.ts'
import { makeMutator } from './mutate.ts'

export interface Target {
  readonly name: string
  /** Valid inputs to begin with. */
  readonly seeds: readonly Buffer[]
  /** Names and numbers that mean something there. */
  readonly words?: readonly string[]
  /** Throws where the input shows a defect, and only there. Answers in a word what became of it. */
  run(input: Buffer): Promise<string>
}

export interface Fuzzed {
  readonly target: string
  readonly runs: number
  readonly kept: number
  readonly outcomes: Readonly<Record<string, number>>
  readonly failure?: { readonly input: Buffer; readonly error: unknown }
}

export interface FuzzOptions {
  readonly seeded: Seeded
  /** Left out, nothing is learned: quick, for a short run. */
  readonly coverage?: Coverage | undefined
  readonly isOver: (runs: number) => boolean
}

const batchSize = 32
const maxKept = 2_000
const maxShrinkTries = 2_000

export async function fuzzTarget(target: Target, { seeded, coverage, isOver }: FuzzOptions): Promise<Fuzzed> {
  const mutator = makeMutator(seeded, target.words)
  const kept = [...target.seeds]
  const outcomes: Record<string, number> = {}
  let runs = 0
  let failure: Fuzzed['failure']

  await tryAll(kept)
  while (!failure && !isOver(runs)) {
    const batch = Array.from({ length: batchSize }, () => mutator.mutate(seeded.pick(kept), kept))
    await tryAll(batch)
    if (coverage) await learnFrom(batch, coverage)
  }
  return { target: target.name, runs, kept: kept.length, outcomes, ...(failure && { failure }) }

  /** Side by side: a gateway has many clients at once. */
  async function tryAll(inputs: readonly Buffer[]): Promise<void> {
    await Promise.all(
      inputs.map(async (input) => {
        runs++
        try {
          const outcome = await target.run(input)
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
        } catch (error) {
          failure ??= { input, error }
        }
      }),
    )
  }

  async function learnFrom(batch: readonly Buffer[], known: Coverage): Promise<void> {
    const reached = await known.take()
    const wanted = failure || !known.isNew(reached) ? [] : batch
    for (const input of wanted) {
      await tryAll([input])
      const reachedAlone = await known.take()
      if (known.isNew(reachedAlone) && kept.length < maxKept) kept.push(input)
      known.learn(reachedAlone)
    }
    known.learn(reached)
  }
}

/** The smallest input that still fails in the same words, as far as leaving out pieces brings it. */
export async function shrink(
  target: Target,
  { input, error }: NonNullable<Fuzzed['failure']>,
): Promise<Buffer> {
  let smallest = input
  let tries = 0
  for (let piece = input.length >> 1; piece >= 1; piece >>= 1) {
    for (let at = 0; at < smallest.length && tries < maxShrinkTries; tries++) {
      const shorter = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + piece)])
      if (await failsAlike(shorter)) smallest = shorter
      else at += piece
    }
  }
  return smallest

  async function failsAlike(candidate: Buffer): Promise<boolean> {
    try {
      await target.run(candidate)
      return false
    } catch (other) {
      return String(other) === String(error)
    }
  }
}
