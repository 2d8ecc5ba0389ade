// All targets in turn, each for its share of the time, and what came of them.
import { makeSeeded } from '../simulation/seeded.ts'
import { adminTarget } from './admin-target.ts'
import { apiTargets } from './api-targets.ts'
import type { Coverage } from './coverage.ts'
import { type Fuzzed, fuzzTarget, type Target } from './guided.ts'
import { messageTargets } from './message-targets.ts'
import { railTargets } from './rail-targets.ts'
import { statementTargets } from './statement-targets.ts'
import { answersToCallbacks, wireToTheGateway } from './wire-targets.ts'
import type { FuzzWorld } from './world.ts'

export interface FuzzRun {
  readonly seed: number
  /** Left out, nothing is learned from what the inputs reached. */
  readonly coverage?: Coverage
  /** Whether a target has had enough, by its runs and its time. */
  readonly isEnough: (done: { target: Target; runs: number; tookMs: number }) => boolean
  readonly tell?: (fuzzed: Fuzzed) => void
}

/** Ends with the first target that fails. */
export async function runFuzz(targets: readonly Target[], options: FuzzRun): Promise<Fuzzed[]> {
  const { seed, coverage, isEnough, tell } = options
  const results: Fuzzed[] = []
  for (const target of targets) {
    const beganMs = performance.now()
    const fuzzed = await fuzzTarget(target, {
      seeded: makeSeeded(`fuzz ${seed} ${target.name}`),
      coverage,
      isOver: (runs) => isEnough({ target, runs, tookMs: performance.now() - beganMs }),
    })
    results.push(fuzzed)
    tell?.(fuzzed)
    if (fuzzed.failure) break
  }
  return results
}

export async function allTargets(world: FuzzWorld): Promise<{ targets: Target[]; close(): Promise<void> }> {
  const answers = await answersToCallbacks()
  const targets = [
    ...(await messageTargets()),
    ...railTargets(),
    ...statementTargets(),
    answers.target,
    ...(await apiTargets(world)),
    adminTarget(world),
    await wireToTheGateway(world),
  ]
  return { targets, close: answers.close }
}
