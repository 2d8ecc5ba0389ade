// How long from the start of the program to the first answered create, with an empty folder and with one that was used
// before, both with the PostgreSQL that comes with it; and how much memory the gateway takes, idle and after load.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseAesKey, parsePrivateKey, sealRequest } from '@tillgate/protocol'
import { createBody } from '../bodies.ts'
import { median, timed } from '../figures.ts'
import { load } from '../load.ts'
import { atMost, figure, type Scenario } from '../scenario.ts'
import { freePort, residentBytes } from '../world.ts'
import { sealCreates } from './merchant-api.ts'

const megabyte = 1024 * 1024
const idleAfterMs = 3_000
const goals = { warmStartMs: 800, idleBytes: 110 * megabyte }

interface Started {
  readonly tookMs: number
  readonly idleBytes: number
}

export const startAndMemory: Scenario = {
  name: 'start and memory',
  yardstick: '',
  async run(world, size) {
    const dataDir = await mkdtemp(join(tmpdir(), 'tillgate-bench-start-'))
    const cold = await startToCreate(dataDir)
    const warm: Started[] = []
    for (let index = 0; index < 3; index++) warm.push(await startToCreate(dataDir))
    await rm(dataDir, { recursive: true, force: true })
    const warmMs = median(warm.map(({ tookMs }) => tookMs))
    const idle = median(warm.map(({ idleBytes }) => idleBytes))

    const { url, pid } = await world.startGateway(await world.freshDatabase())
    const requests = await sealCreates(world, size.of(4_000, 1_000))
    await load(url, { requests, connections: 64 })
    const loaded = residentBytes(pid)
    return [
      figure('first answered create, with an empty folder', seconds(cold.tookMs)),
      {
        part: 'first answered create, with a folder that was used before',
        goal: atMost(1),
        ratio: warmMs / goals.warmStartMs,
        ours: seconds(warmMs),
        yardstick: seconds(goals.warmStartMs),
      },
      {
        part: 'memory of the gateway, idle',
        goal: atMost(1),
        ratio: idle / goals.idleBytes,
        ours: megabytes(idle),
        yardstick: megabytes(goals.idleBytes),
      },
      figure(`memory after ${requests.length} creates`, megabytes(loaded)),
    ]
  },
}

function seconds(tookMs: number): string {
  return `${(tookMs / 1_000).toFixed(2)} s`
}

function megabytes(bytes: number): string {
  return `${(bytes / megabyte).toFixed(0)} MB`
}

/** As `npm start` does it, without shop and bank, on a free port, with the credentials that the first start writes. */
async function startToCreate(dataDir: string): Promise<Started> {
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  const start = join(import.meta.dirname, '../../packages/gateway/start.js')
  let child: ReturnType<typeof spawn> | undefined
  const tookMs = await timed(async () => {
    child = spawn(process.execPath, [start], {
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'],
        MALLOC_ARENA_MAX: '1',
        DATA_DIR: dataDir,
        HOST: '127.0.0.1',
        PORT: String(port),
        ADMIN_PORT: '0',
        SHOP_PORT: 'off',
        RAIL_PORT: 'off',
      },
    })
    for (let isCreated = false; !isCreated; ) {
      isCreated = await tryCreate(url, dataDir)
      if (!isCreated) await pause(10)
      if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`)
    }
  })
  await pause(idleAfterMs)
  const idleBytes = residentBytes(child?.pid ?? 0)
  child?.kill('SIGTERM')
  if (child?.exitCode === null) await once(child, 'exit')
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
