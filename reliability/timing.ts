// npm run timing -- [--samples 10000] [--only process|http] [--lines 2] [--kinds "wrong tag,…"]
// Whether an outsider who sends envelopes that stay closed learns from the time of the refusal why. Ends with code 1
// unless every kind is surely within the threshold of an unknown merchant, two equal kinds are, and a planted difference
// is seen.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeVault } from '../packages/gateway/src/platform/vault.ts'
import { testOperations } from '../packages/gateway/test/support/operations.ts'
import { urlOf } from '../packages/gateway/test/support/server.ts'
import { GatewayChild } from './support/gateway-child.ts'
import { openThrowawayDatabase } from './support/throwaway-database.ts'
import { wholeOption } from './support/whole-option.ts'
import { askInProcess, askOverHttp } from './timing/asking.ts'
import { compare, judge } from './timing/compare.ts'
import { makeRefusals, planted, type Refusal, reference, sameAgain } from './timing/refusals.ts'
import { type Ask, sample } from './timing/sample.ts'

const { values } = parseArgs({
  options: {
    samples: { type: 'string', default: '10000' },
    only: { type: 'string' },
    lines: { type: 'string', default: '2' },
    kinds: { type: 'string' },
  },
})
/** What can be told from nothing by ten thousand samples; over HTTP they are less alike. */
const thresholds = { 'in process': 5, 'over HTTP': 10 } as const
const samples = wholeOption('samples', values.samples, { least: 1_000 })

/** As many as unknown addresses have turns: a third would wait for one. */
const lines = wholeOption('lines', values.lines, { least: 1 })
const masterKey = randomBytes(32)
const database = await openThrowawayDatabase()
const { operations } = testOperations(database.pool, { vault: makeVault(masterKey) })
const kinds = values.kinds?.split(',')
let isRight = true
try {
  if (values.only !== 'http') isRight = (await measureOpening()) && isRight
  if (values.only !== 'process') isRight = (await measureGateway()) && isRight
} finally {
  await database.close()
}
process.exit(isRight ? 0 : 1)

function measureOpening(): Promise<boolean> {
  const ask = askInProcess(operations)
  return measure(
    'in process',
    Array.from({ length: lines }, () => ask),
  )
}

async function measureGateway(): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tillgate-timing-'))
  const gateway = await GatewayChild.make({
    dataDir,
    environment: {
      DATABASE_URL: urlOf(database.connection),
      MASTER_KEY: masterKey.toString('base64'),
      FAILED_OPENINGS_PER_MINUTE: '1000000',
    },
  })
  gateway.start()
  try {
    await gateway.ready()
    const asking = await Promise.all(Array.from({ length: lines }, () => askOverHttp(gateway.url)))
    const isEqual = await measure('over HTTP', asking)
    for (const line of asking) line.close()
    return isEqual
  } finally {
    await gateway.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** For each way anew: a timestamp is good for five minutes only, and then all kinds would be refused for that. */
async function sealedNow(): Promise<Map<string, Refusal>> {
  const all = await makeRefusals(operations.as('timing').merchants)
  return new Map(
    [...all].filter(([name]) => !kinds || [reference, sameAgain, planted, ...kinds].includes(name)),
  )
}

async function measure<Prepared>(
  way: keyof typeof thresholds,
  asking: readonly Ask<Prepared>[],
): Promise<boolean> {
  const thresholdMicros = thresholds[way]
  const micros = await sample(await sealedNow(), asking, samples)
  const compared = micros.get(reference) ?? []
  console.log(
    `\n${way}, ${samples} samples of each kind, difference to "${reference}" in µs (99.9 % confidence), at most ${thresholdMicros}`,
  )
  let isEqual = true
  for (const [name, own] of micros) {
    const differences = compare(own, compared)
    const verdict = judge(differences, thresholdMicros)
    isEqual &&= name === planted ? verdict === 'usable' : verdict === 'none'
    const told = differences.map(
      (each) => `${each.share * 100} %: ${each.micros.toFixed(1)} ± ${each.plusMinusMicros.toFixed(1)}`,
    )
    const sorted = own.toSorted((a, b) => a - b)
    const middle = (sorted[sorted.length >> 1] ?? 0).toFixed(0)
    console.log(`${name.padEnd(40)} median ${middle.padStart(5)}  ${told.join('  ')}  ${verdict}`)
  }
  return isEqual
}
