// The tests that every rail runs: the stories, the planted bugs that the stories must detect, the gateway's conformance
// check, and the search for secrets in logs.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { NextAction } from '@tillgate/protocol'
import { checkConformance } from '../../../packages/gateway/src/finance/rails/conformance/check-conformance.ts'
import { postToRail } from '../../../packages/gateway/src/finance/rails/conformance/post-to-rail.ts'
import { disputeStories, plantedDisputeBugs, plantedEvidenceBugs } from './dispute-stories.ts'
import { type PlantedBug, plantedBugs, type Story, type StoryName, stories } from './stories.ts'
import { openWorld, type RailUnderTest, railDatabaseUrl, railSecret, type World } from './world.ts'

export interface Battery extends RailUnderTest {
  /** Bugs that only this rail could have. */
  readonly ownBugs: readonly PlantedBug[]
  /** Stories that do not apply to this provider, each with the reason. */
  readonly leftOut?: Partial<Record<StoryName, string>>
}

export async function testRail(given: Battery): Promise<void> {
  const databaseUrl = await railDatabaseUrl()
  const names = (Object.keys(stories) as StoryName[]).filter((name) => !given.leftOut?.[name])
  const told: Readonly<Record<string, Story>> = { ...stories, ...(given.disputes && disputeStories) }
  const toldNames = [...names, ...(given.disputes ? Object.keys(disputeStories) : [])]
  const bugs: readonly (Omit<PlantedBug, 'foundBy'> & { readonly foundBy: string })[] = [
    ...plantedBugs.filter(({ foundBy }) => names.includes(foundBy)),
    ...given.ownBugs,
    ...(given.disputes ? plantedDisputeBugs : []),
    ...(given.disputes?.accepts.includes('evidence') ? plantedEvidenceBugs : []),
  ]

  for (const name of toldNames)
    test(`${given.name}: ${name}`, async () => {
      const world = await openWorld(given, databaseUrl)
      try {
        await told[name]?.(world)
        assertNoSecrets(given, world.log)
      } finally {
        await world.close()
      }
    })

  for (const { what, plant, foundBy } of bugs)
    test(`${given.name}: the planted bug "${what}" is found`, async () => {
      const world = await openWorld(given, databaseUrl, plant)
      try {
        await assert.rejects(told[foundBy]?.(world) ?? Promise.resolve(), { name: 'AssertionError' })
      } finally {
        await world.close()
      }
    })

  test(`${given.name}: tillgate rail check passes`, async () => {
    const world = await openWorld(given, databaseUrl)
    try {
      const { results } = await checkConformance({
        currencies: given.checkCurrencies,
        post: postToRail(`${world.rail.url}/messages`),
        secret: railSecret,
        clock: { now: () => world.clock.nowMs, wait: async () => {} },
        random: randomBytes,
        signal: new AbortController().signal,
        approvalWithinMs: 5_000,
        askForApproval: ({ nextAction }) => void approve(world, nextAction),
      })
      assert.deepEqual(
        // Captures are optional.
        results.filter(({ outcome, found }) => outcome !== 'passed' && found !== 'it captures nothing'),
        [],
      )
      assert.equal(results.length, 13 + 4 * given.checkCurrencies.length)
    } finally {
      await world.close()
    }
  })
}

async function approve({ fake }: World, nextAction: NextAction | undefined): Promise<void> {
  if (nextAction?.kind === 'redirect') await fake.open?.(nextAction.url)
  const { transactionId } = fake.payments().findLast(({ status }) => status === 'open') ?? {}
  assert(transactionId && nextAction)
  await fake.consumer(transactionId, 'pays')
}

function assertNoSecrets({ secrets }: RailUnderTest, log: readonly string[]): void {
  for (const secret of [...secrets, railSecret])
    assert(!log.some((line) => line.includes(secret)), 'a secret is in the log')
}
