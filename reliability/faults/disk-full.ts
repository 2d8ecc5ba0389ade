// The disk of the data folder runs full under load, stays so, and has room again.
import { spawnSync } from 'node:child_process'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { GatewayChild } from '../support/gateway-child.ts'
import { withStored } from '../support/stored.ts'
import { type Fault, type FaultParts, readyzKeepsSaying, readyzSays, underLoad } from './fault.ts'

/** A new database takes about 70 MB, its log of changes included. */
const diskMiB = 220
const fullForMs = 10_000
const noticedWithinMs = 5_000

export const diskFull: Fault = { name: 'disk full', tools: [], whyNot, run }

/** Tried in a view of the file system of its own, which is gone with the try. */
function whyNot(): string | undefined {
  const { status } = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'])
  return status === 0 ? undefined : 'a small disk cannot be mounted here; root can'
}

async function run({ home, tell }: FaultParts): Promise<readonly string[]> {
  const disk = join(home, 'disk')
  await mkdir(disk)
  mount('mount', ['-t', 'tmpfs', '-o', `size=${diskMiB}m,mode=0700`, 'tmpfs', disk])
  try {
    return await onDisk(disk, tell)
  } finally {
    mount('umount', ['--lazy', disk])
  }
}

async function onDisk(disk: string, tell: (line: string) => void): Promise<readonly string[]> {
  const dataDir = join(disk, 'data')
  const gateway = await GatewayChild.make({ dataDir })
  gateway.start()
  await gateway.ready()
  return underLoad({ dataDir, gateway, name: 'disk full', tell }, async () => {
    const ballast = join(disk, 'ballast')
    await fill(ballast)
    const during = 'the disk is full'
    const stillFull = { isReady: false, forMs: fullForMs, while: during }
    const wrong = await readyzSays(gateway, { isReady: false, withinMs: noticedWithinMs, while: during })
    wrong.push(...(await readyzKeepsSaying(gateway, stillFull)))
    // Its log of changes was laid out ahead. Where that comes to its end too, PostgreSQL gives up, and cannot come back.
    await withStored(dataDir, (pool) => pool.query('select pg_switch_wal()')).catch(() => {})
    wrong.push(...(await readyzKeepsSaying(gateway, stillFull)))
    await rm(ballast)
    return wrong
  })
}

/** To the last byte. */
async function fill(path: string): Promise<void> {
  const file = await open(path, 'w')
  try {
    for (const size of [1 << 20, 1 << 12, 1]) {
      const chunk = Buffer.alloc(size)
      for (;;) if (!(await file.write(chunk).then(({ bytesWritten }) => bytesWritten === size, isFull))) break
    }
  } finally {
    await file.close()
  }
}

function isFull(error: unknown): false {
  if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  return false
}

function mount(command: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`)
}
