// Takes samples of all kinds of refusals in a random order, so that whatever the machine does falls on all alike.
import { makeSeeded } from '../simulation/seeded.ts'
import { planted } from './refusals.ts'

/** Resolves when the refusal is there. The argument is made ready before the clock starts. */
export type Ask<Given, Prepared> = {
  prepare(given: Given): Prepared | Promise<Prepared>
  ask(prepared: Prepared): Promise<void>
}

const warmUpRounds = 100

/** One line asks for one thing at a time; several, because a refusal is mostly waiting. */
export async function sample<Given, Prepared>(
  refusals: ReadonlyMap<string, () => Given>,
  lines: readonly Ask<Given, Prepared>[],
  { each, plantedMicros }: { readonly each: number; readonly plantedMicros: number },
): Promise<Map<string, number[]>> {
  const seeded = makeSeeded('timing')
  const micros = new Map<string, number[]>([...refusals.keys()].map((name) => [name, []]))
  let round = -warmUpRounds
  await Promise.all(lines.map(askRounds))
  return micros

  async function askRounds({ prepare, ask }: Ask<Given, Prepared>): Promise<void> {
    for (let own = round++; own < each; own = round++) {
      for (const [name, refusal] of shuffled([...refusals])) {
        const prepared = await prepare(refusal())
        const began = process.hrtime.bigint()
        await ask(prepared)
        // After the answer: before it, the constant time of refusals would hide it too.
        const answered = process.hrtime.bigint()
        if (name === planted) while (process.hrtime.bigint() - answered < plantedMicros * 1_000);
        const tookMicros = Number(process.hrtime.bigint() - began) / 1_000
        if (own >= 0) micros.get(name)?.push(tookMicros)
      }
    }
  }

  function shuffled<Item>(items: Item[]): Item[] {
    for (let last = items.length - 1; last > 0; last--) {
      const other = seeded.whole(0, last)
      // Safe: both are places of the list.
      ;[items[last], items[other]] = [items[other] as Item, items[last] as Item]
    }
    return items
  }
}
