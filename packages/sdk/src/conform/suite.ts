// The conformance suite: every clause of the interface, with what can be checked over HTTP and what cannot.
import { callbackChecks } from './checks/callbacks.ts'
import { createChecks } from './checks/create.ts'
import { orderChecks } from './checks/orders.ts'
import { requestChecks } from './checks/requests.ts'
import { type Check, type Clause, clauseNumbers } from './clauses.ts'
import { Deviation, NotTestable } from './outcome.ts'
import type { World } from './world.ts'

export interface Result extends Pick<Check, 'clause' | 'title'> {
  readonly outcome: 'pass' | 'fail' | 'not testable'
  readonly detail?: string
}

const outOfReach: readonly (readonly [Clause, string, string])[] = [
  [
    '2.4',
    'the totals should equal the sums over the goods',
    'the interface does not say what happens if they differ',
  ],
  ['3.3', 'other transitions', 'the interface does not show them'],
  ['6', 'the listener must be served over HTTPS on port 443', 'it concerns the merchant’s listener'],
  ['6', 'delivery is repeated up to 8 times over 7 days', 'it takes 7 days'],
  ['6', 'frequent changes of the callback URL may be blocked', 'the interface does not say when'],
  ['9', 'version negotiation and compatibility', 'the interface does not show them'],
]

export const checks: readonly Check[] = [
  ...requestChecks,
  ...createChecks,
  ...orderChecks,
  ...callbackChecks,
  ...outOfReach.map(([clause, title, reason]) => ({
    clause,
    title,
    run: () => Promise.reject(new NotTestable(reason)),
  })),
].toSorted((a, b) => clauseNumbers.indexOf(a.clause) - clauseNumbers.indexOf(b.clause))

/** `2` is all of 2.1 to 2.12. */
export function belongsTo(clause: Clause, wanted: string): boolean {
  return clause === wanted || clause.startsWith(`${wanted}.`)
}

export async function runSuite(
  world: World,
  {
    clause,
    onResult = () => {},
  }: { readonly clause?: string | undefined; readonly onResult?: (result: Result) => void } = {},
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const check of checks) {
    if (clause !== undefined && !belongsTo(check.clause, clause)) continue
    const result = await runCheck(check, world)
    results.push(result)
    onResult(result)
  }
  return results
}

async function runCheck({ clause, title, run }: Check, world: World): Promise<Result> {
  try {
    await run(world)
    return { clause, title, outcome: 'pass' }
  } catch (error) {
    if (error instanceof Deviation) return { clause, title, outcome: 'fail', detail: error.message }
    if (error instanceof NotTestable) return { clause, title, outcome: 'not testable', detail: error.message }
    throw error
  }
}
