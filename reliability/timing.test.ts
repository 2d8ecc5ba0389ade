// The statistics behind `npm run timing`, on samples whose difference is known; and the doors that it times, asked once
// each: the same words and as many hashes for every kind.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '../packages/gateway/test/support/clock.ts'
import { startTestGateway } from '../packages/gateway/test/support/gateway.ts'
import { hashesDuring } from '../packages/gateway/test/support/hashes.ts'
import { makeSeeded } from './simulation/seeded.ts'
import { compare, judge } from './timing/compare.ts'
import { makeDoors, type PageRequest } from './timing/doors.ts'
import { makePeople } from './timing/people.ts'
import { doorEnvironment } from './timing/with-doors.ts'

const seeded = makeSeeded('statistics')
/** As refusals come: a little jitter, now and then a long wait, and a machine that gets slower. */
const samples = (count: number, moreMicros: number) =>
  Array.from(
    { length: count },
    (_, at) => 5_000 + moreMicros + 50 * seeded.fraction() + at / 100 + (seeded.isLucky(0.01) ? 20_000 : 0),
  )

test('equal kinds are found equal, a difference is found, and what cannot be told is not', () => {
  const reference = samples(10_000, 0)
  assert.equal(judge(compare(samples(10_000, 0), reference), 5), 'none')
  assert.equal(judge(compare(samples(10_000, 20), reference), 5), 'usable')
  assert.equal(judge(compare(samples(500, 0), reference.slice(0, 500)), 5), 'unclear')
})

test('every kind of refusal at a door has the same words and costs as many hashes', async () => {
  const clock = new TestClock()
  const gateway = await startTestGateway({ clock, environment: doorEnvironment })
  const doors = await makeDoors(gateway, await makePeople(gateway, clock))
  const answerTo = async ({ path, headers, body }: PageRequest) => {
    clock.advance(8 * 24 * 60 * 60_000)
    const method = body === undefined ? 'GET' : 'POST'
    const init = { method, headers, redirect: 'manual', ...(body !== undefined && { body }) } as const
    const response = await fetch(gateway.url + path, init)
    // What was typed, and what is new in every answer.
    const text = (await response.text()).replaceAll(
      /[\w-]+@home\.example|value="[^"]*"|"requestId":"[^"]*"|nonce="[^"]*"|[\d,]+ hours/g,
      '',
    )
    return `${response.status} ${response.headers.get('location')} ${text}`
  }
  for (const [door, { kinds }] of doors) {
    const seen = new Map<string, string>()
    for (const [kind, ask] of kinds) {
      let answer = ''
      const hashes = await hashesDuring(async () => {
        answer = await answerTo(ask())
      })
      seen.set(`${hashes} hashes, ${answer}`, kind)
    }
    assert.equal(seen.size, 1, `${door}: ${[...seen].join('\n\n')}`)
  }
})
