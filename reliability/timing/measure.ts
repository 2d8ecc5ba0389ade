// Takes the samples of one door, compares each kind with the first, prints the table, and says whether none can be told
// from another while a planted difference is seen.
import { compare, judge } from './compare.ts'
import { planted } from './refusals.ts'
import { type Ask, sample } from './sample.ts'

export interface Measured<Given, Prepared> {
  /** The others are compared with the first. */
  readonly kinds: ReadonlyMap<string, () => Given>
  readonly asking: readonly Ask<Given, Prepared>[]
  readonly samples: number
  /** What a difference must stay below. */
  readonly thresholdMicros: number
}

const leastPlantedMicros = 20

export async function measure<Given, Prepared>(
  door: string,
  { kinds, asking, samples, thresholdMicros }: Measured<Given, Prepared>,
): Promise<boolean> {
  const plantedMicros = Math.max(leastPlantedMicros, 2 * thresholdMicros)
  const micros = await sample(kinds, asking, { each: samples, plantedMicros })
  const [[first, compared] = ['', []]] = micros
  console.log(
    `\n${door}, ${samples} samples of each kind, difference to "${first}" in µs (99.9 % confidence), at most ${thresholdMicros}, planted ${plantedMicros}`,
  )
  let isEqual = true
  for (const [name, own] of micros) {
    const differences = compare(own, compared)
    const verdict = judge(differences, thresholdMicros)
    isEqual &&= verdict === (name === planted ? 'usable' : 'none')
    const told = differences.map(
      (each) => `${each.share * 100} %: ${each.micros.toFixed(1)} ± ${each.plusMinusMicros.toFixed(1)}`,
    )
    const sorted = own.toSorted((a, b) => a - b)
    const middle = (sorted[sorted.length >> 1] ?? 0).toFixed(0)
    console.log(`${name.padEnd(40)} median ${middle.padStart(5)}  ${told.join('  ')}  ${verdict}`)
  }
  return isEqual
}
