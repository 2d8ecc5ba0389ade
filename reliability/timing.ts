// npm run timing -- [--samples 10000] [--only process|http|doors] [--lines 2] [--kind "wrong tag" …] [--door "checkout" …]
// Whether an outsider who is refused learns from the time of it why: who sends envelopes that stay closed, and who asks at
// the doors of portal, wallet and checkout. Ends with code 1 unless every kind is surely within the threshold of the
// one that it is compared with, two equal kinds are, and a planted difference is seen.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeVault } from '../packages/gateway/src/platform/runtime/secrets/vault.ts'
import { actingAs } from '../packages/gateway/test/support/acting.ts'
import { testOperations } from '../packages/gateway/test/support/operations.ts'
import { urlOf } from '../packages/gateway/test/support/server.ts'
import { GatewayChild } from './support/gateway-child.ts'
import { openThrowawayDatabase } from './support/throwaway-database.ts'
import { wholeOption } from './support/whole-option.ts'
import { askInProcess, askOverHttp } from './timing/asking.ts'
import { measure } from './timing/measure.ts'
import { makeRefusals, planted, type Refusal, reference, sameAgain } from './timing/refusals.ts'
import { withDoors } from './timing/with-doors.ts'

const { values } = parseArgs({
  options: {
    samples: { type: 'string', default: '10000' },
    only: { type: 'string' },
    lines: { type: 'string', default: '2' },
    kind: { type: 'string', multiple: true },
    door: { type: 'string', multiple: true },
  },
})
const samples = wholeOption('samples', values.samples, { least: 1_000 })

/** As many as unknown addresses have turns: a third would wait for one. */
const lines = wholeOption('lines', values.lines, { least: 1 })
const masterKey = randomBytes(32)
const database = await openThrowawayDatabase()
const { operations } = testOperations(database.pool, { vault: makeVault(masterKey) })
let isRight = true
try {
  if (isWanted('process')) isRight = (await measureOpening()) && isRight
  if (isWanted('http')) isRight = (await measureGateway()) && isRight
  if (isWanted('doors')) isRight = (await measureDoors()) && isRight
} finally {
  await database.close()
}
process.exit(isRight ? 0 : 1)

function isWanted(part: 'process' | 'http' | 'doors'): boolean {
  return values.only === undefined || values.only === part
}

async function measureOpening(): Promise<boolean> {
  const ask = askInProcess(operations)
  const asking = Array.from({ length: lines }, () => ask)
  return measure('in process', { makeKinds: sealNow, asking, samples, thresholdMicros: 5 })
}

async function measureGateway(): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tillgate-timing-'))
  const gateway = await GatewayChild.make({
    dataDir,
    environment: {
      DATABASE_URL: urlOf(database.connection),
      MASTER_KEY: masterKey.toString('base64'),
      // The merchants of the part before are in it already.
      MODE: 'sandbox',
      FAILED_OPENINGS_PER_MINUTE: '1000000',
    },
  })
  gateway.start()
  try {
    await gateway.ready()
    const asking = await Promise.all(Array.from({ length: lines }, () => askOverHttp(gateway.url)))
    const isEqual = await measure('over HTTP', {
      makeKinds: sealNow,
      asking,
      samples,
      thresholdMicros: 10,
    })
    for (const line of asking) line.close()
    return isEqual
  } finally {
    await gateway.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function measureDoors(): Promise<boolean> {
  let areEqual = true
  await withDoors(async (doors, ask) => {
    const wanted = wantedOf('door', [...doors.keys()])
    for (const [name, { kinds, thresholdMicros }] of doors) {
      if (!wanted.includes(name)) continue
      const line = await ask()
      const isEqual = await measure(name, {
        makeKinds: async () => kinds,
        asking: [line],
        samples: Math.ceil(samples / 4),
        thresholdMicros,
      })
      areEqual &&= isEqual
      line.close()
    }
  })
  return areEqual
}

/** For each turn anew: a timestamp is good for five minutes only, and then all kinds would be refused for that. */
async function sealNow(): Promise<Map<string, Refusal>> {
  const all = await makeRefusals(actingAs(operations, 'timing').merchants)
  const wanted = [reference, sameAgain, planted, ...wantedOf('kind', [...all.keys()])]
  return new Map([...all].filter(([name]) => wanted.includes(name)))
}

function wantedOf(option: 'kind' | 'door', possible: readonly string[]): readonly string[] {
  const unknown = values[option]?.find((name) => !possible.includes(name))
  if (unknown === undefined) return values[option] ?? possible
  throw new Error(`--${option} "${unknown}": there are "${possible.join('", "')}"`)
}
