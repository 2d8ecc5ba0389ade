// Kill cycles as tests: a few by default, spread over all calls; RAIL_KILL_CYCLES=100 runs a hundred. A run ends after 20
// minutes; RAIL_KILL_FROM=60 skips the first sixty.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runKilled } from './kill.ts'
import { type RailUnderTest, railDatabaseUrl } from './world.ts'

const cycles = Number(process.env['RAIL_KILL_CYCLES'] ?? 3)
const from = Number(process.env['RAIL_KILL_FROM'] ?? 0)

export async function testKills(given: RailUnderTest): Promise<void> {
  const databaseUrl = await railDatabaseUrl()
  test(`${given.name}: killed at any of its calls, it loses nothing and does nothing twice`, async () => {
    const { events } = await runKilled(given, databaseUrl, 0)
    assert(events > 50, `${events} events`)
    for (let cycle = from; cycle < cycles; cycle++) {
      let killAt = 1 + Math.floor(((cycle + 0.5) * events) / cycles)
      // How often an idle rail polls varies, and so does its number of events.
      while ((await runKilled(given, databaseUrl, killAt)).kills === 0) killAt = Math.ceil(killAt * 0.8)
    }
  })
}
