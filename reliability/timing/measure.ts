// Takes the samples of one door, compares each kind with the first, prints the table, and says whether none can be told
// from another while a planted difference is seen. Where so many samples cannot decide it, as many are taken again.
import { compare, type Difference, judge, type Verdict } from './compare.ts'
import { planted } from './refusals.ts'
import { type Ask, sample } from './sample.ts'

export interface Measured<Given, Prepared> {
  /** The others are compared with the first. Made for every turn of samples. */
  readonly makeKinds: () => Promise<ReadonlyMap<string, () => Given>>
  readonly asking: readonly Ask<Given, Prepared>[]
  readonly samples: number
  /** What a difference must stay below. */
  readonly thresholdMicros: number
}

const leastPlantedMicros = 20
const mostTurns = 4

export async function measure<Given, Prepared>(
  door: string,
  { makeKinds, asking, samples, thresholdMicros }: Measured<Given, Prepared>,
): Promise<boolean> {
  const plantedMicros = Math.max(leastPlantedMicros, 2 * thresholdMicros)
  const micros = new Map<string, number[]>()
  let compared: Compared[] = []
  for (let turn = 0; turn === 0 || (turn < mostTurns && compared.some(isUnclear)); turn++) {
    const taken = await sample(await makeKinds(), asking, { each: samples, plantedMicros })
    for (const [name, own] of taken) micros.set(name, [...(micros.get(name) ?? []), ...own])
    const [[, reference] = ['', []]] = micros
    compared = [...micros].map(([name, own]) => {
      const differences = compare(own, reference)
      return { name, own, differences, verdict: judge(differences, thresholdMicros) }
    })
  }
  const [first] = compared
  console.log(
    `\n${door}, ${first?.own.length} samples of each kind, difference to "${first?.name}" in µs (99.9 % confidence), at most ${thresholdMicros}, planted ${plantedMicros}`,
  )
  for (const { name, own, differences, verdict } of compared) {
    const told = differences.map(
      (each) => `${each.share * 100} %: ${each.micros.toFixed(1)} ± ${each.plusMinusMicros.toFixed(1)}`,
    )
    const sorted = own.toSorted((a, b) => a - b)
    const middle = (sorted[sorted.length >> 1] ?? 0).toFixed(0)
    console.log(`${name.padEnd(40)} median ${middle.padStart(5)}  ${told.join('  ')}  ${verdict}`)
  }
  return compared.every(({ name, verdict }) => verdict === (name === planted ? 'usable' : 'none'))
}

interface Compared {
  readonly name: string
  readonly own: readonly number[]
  readonly differences: readonly Difference[]
  readonly verdict: Verdict
}

function isUnclear({ verdict }: Compared): boolean {
  return verdict === 'unclear'
}
