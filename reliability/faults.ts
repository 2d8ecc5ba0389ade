// npm run faults [-- name…]
// The real program under load while the world around it fails: disk, clock, scheduler, network, connections. Nothing that
// was acknowledged may be lost, /readyz must tell the truth, and no hand may be needed. Ends with code 1 when something is
// wrong, with code 2 when a part had to be left out.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clockJumps } from './faults/clock-jumps.ts'
import { diskFull } from './faults/disk-full.ts'
import { exhaustedPool } from './faults/exhausted-pool.ts'
import type { Fault } from './faults/fault.ts'
import { ioErrors } from './faults/io-errors.ts'
import { pausedProcess } from './faults/paused-process.ts'
import { slowDatabase } from './faults/slow-database.ts'
import { missingTool } from './support/debian-tools.ts'

const faults: readonly Fault[] = [diskFull, ioErrors, clockJumps, pausedProcess, slowDatabase, exhaustedPool]
const key = ({ name }: Fault) => name.toLowerCase().replaceAll(/[^a-z]+/g, '-')
const wanted = process.argv.slice(2)
const unknown = wanted.filter((each) => !faults.some((fault) => key(fault) === each))
if (unknown.length > 0) {
  console.error(`No such fault: ${unknown.join(', ')}. There are: ${faults.map(key).join(', ')}.`)
  process.exit(2)
}

const chosen = faults.filter((fault) => wanted.length === 0 || wanted.includes(key(fault)))
const leftOut: string[] = []
let isWrong = false
for (const fault of chosen) {
  const why = whyLeftOut(fault)
  if (why !== undefined) leftOut.push(`${fault.name}: ${why}`)
  else if (!(await isSurvived(fault))) isWrong = true
}
for (const why of leftOut) console.log(`LEFT OUT: ${why}`)
process.exit(isWrong ? 1 : leftOut.length > 0 ? 2 : 0)

function whyLeftOut({ tools, whyNot }: Fault): string | undefined {
  return whyNot?.() ?? tools.map(missingTool).find((missing) => missing !== undefined)
}

async function isSurvived(fault: Fault): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'tillgate-fault-'))
  const home = join(folder, 'home')
  await mkdir(home)
  const startedAtMs = performance.now()
  const violations = await fault
    .run({ home, tell: (line) => console.log(line) })
    // A shopper who gave up, or a gateway that did not come back.
    .catch((error: unknown) => [String(error)])
  const seconds = Math.round((performance.now() - startedAtMs) / 1_000)
  for (const violation of violations) console.log(`WRONG: ${fault.name}: ${violation}`)
  if (violations.length > 0) console.log(`The data is kept in ${folder}`)
  else await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  console.log(`${fault.name}: ${violations.length === 0 ? 'survived' : 'NOT survived'} in ${seconds} s`)
  return violations.length === 0
}
