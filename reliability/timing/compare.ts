// Whether two kinds of answers can be told apart by their time. Samples of both were taken in turn; they are cut into
// rounds, and each round gives one difference of its quantiles: what drifts over a run falls on both sides of each.
import { quantile } from '../../bench/figures.ts'

export interface Difference {
  /** Which part of the samples is looked at: the quick ones carry the least noise. */
  readonly share: number
  readonly micros: number
  /** Half of the interval in which the true difference lies with 99.9 % confidence. */
  readonly plusMinusMicros: number
}

export type Verdict = 'none' | 'usable' | 'unclear'

const rounds = 50
const shares = [0.1, 0.25, 0.5] as const
/** Student's t for 49 degrees of freedom, two-sided, 99.9 %. */
const t = 3.5

export function compare(samples: readonly number[], reference: readonly number[]): Difference[] {
  return shares.map((share) => {
    const differences = Array.from(
      { length: rounds },
      (_, round) => quantile(roundOf(samples, round), share) - quantile(roundOf(reference, round), share),
    )
    const mean = differences.reduce((sum, each) => sum + each, 0) / rounds
    const variance = differences.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (rounds - 1)
    return { share, micros: mean, plusMinusMicros: t * Math.sqrt(variance / rounds) }
  })
}

/** None: surely below the threshold at every quantile. Usable: surely above it at one. */
export function judge(differences: readonly Difference[], thresholdMicros: number): Verdict {
  const least = ({ micros, plusMinusMicros }: Difference) => Math.abs(micros) - plusMinusMicros
  const most = ({ micros, plusMinusMicros }: Difference) => Math.abs(micros) + plusMinusMicros
  if (differences.some((each) => least(each) > thresholdMicros)) return 'usable'
  return differences.every((each) => most(each) < thresholdMicros) ? 'none' : 'unclear'
}

function roundOf(samples: readonly number[], round: number): readonly number[] {
  const size = Math.floor(samples.length / rounds)
  return samples.slice(round * size, (round + 1) * size)
}
