// Fuzzing in short: every reader of messages sees a few hundred changed ones. The long run is `npm run fuzz`.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestGateway } from '../packages/gateway/test/support/gateway.ts'
import { Coverage } from './fuzz/coverage.ts'
import { shrink, type Target } from './fuzz/guided.ts'
import { allTargets, runFuzz } from './fuzz/run-fuzz.ts'
import { furnish, fuzzEnvironment, makeFuzzClock } from './fuzz/world.ts'

const seed = 7
const gateway = await startTestGateway({ environment: fuzzEnvironment, clock: makeFuzzClock() })
const { targets, close } = await allTargets(await furnish(gateway))
after(close)

test('whatever is sent, every reader of messages takes it or names what is wrong', async () => {
  const results = await runFuzz(targets, {
    seed,
    // Whatever is sealed and sent takes milliseconds, whatever is read here takes none.
    isEnough: ({ target, runs }) => runs >= (/^api|admin|wire|to a callback/.test(target.name) ? 32 : 200),
  })
  for (const { target, failure } of results)
    assert.equal(
      failure?.error,
      undefined,
      `${target}: ${failure?.error} for ${failure?.input.toString('latin1')}`,
    )
  assert.equal(results.length, targets.length)
})

test('an input that reaches code which none before it reached is kept', async () => {
  const coverage = new Coverage()
  await coverage.start()
  const target = targets.find(({ name }) => name === 'body of service.trade.query')
  assert(target)
  const [result] = await runFuzz([target], { seed, coverage, isEnough: ({ runs }) => runs > 200 })
  coverage.stop()
  assert(result && result.kept > target.seeds.length)
})

/** Breaks on a text that takes three right steps to write. */
const breakable: Target = {
  name: 'breakable',
  seeds: [Buffer.from('{"currency":"EUR","amount":1}')],
  words: ['USD'],
  async run(input) {
    const text = input.toString()
    if (text.includes('"USD"') && text.includes('-')) throw new Error('found')
    return 'fine'
  },
}

test('a reader that breaks is found, and what breaks it is shown in its smallest form', async () => {
  const [result] = await runFuzz([breakable], { seed, isEnough: ({ runs }) => runs > 20_000 })
  assert(result?.failure)
  const smallest = await shrink(breakable, result.failure)
  assert.deepEqual([...smallest.toString()].toSorted(), [...'"USD"-'].toSorted())
})
