// The gateway writes files of its own at its first start: the folder of its database, its master key, the credentials of
// the demo merchant. Here it is killed at each fsync of these. The next start must make whole what it finds: the
// credentials work, and nothing that was sealed is lost.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sandboxFilePath } from '../../packages/gateway/src/app/sandbox/sandbox-file.ts'
import { startEmbedded } from '../../packages/gateway/src/platform/database/embedded/embedded.ts'
import { copyFolder } from '../../packages/gateway/test/support/data-dir.ts'
import { GatewayChild } from '../support/gateway-child.ts'
import { Site } from '../support/site.ts'
import { underStrace } from '../support/strace.ts'

/** Far more files than there are: a run that comes here does not end. */
const mostSyncs = 30
// strace counts for each thread, so that one thread does all of them.
const oneThread = { UV_THREADPOOL_SIZE: '1' }

export async function runFirstStartSyncs({
  home,
  tell,
}: {
  home: string
  tell: (line: string) => void
}): Promise<{ kills: number; violations: string[] }> {
  const violations: string[] = []
  let kills = 0
  let folders = 0
  // What is there decides which file is the next to be written, and so which threads come to which number.
  const beginnings = {
    'an empty folder': undefined,
    'a folder with a database': await makeDatabase(join(home, 'database')),
    'a folder without credentials': await makeUsed(join(home, 'used')),
  }
  for (const [name, beginning] of Object.entries(beginnings)) {
    for (let n = 1; ; n++) {
      if (n > mostSyncs) throw new Error(`${name}: still killed at its sync ${mostSyncs}`)
      const dataDir = join(home, `first-${++folders}`)
      if (beginning !== undefined) await copyFolder(beginning, dataDir)
      const isKilled = await startAndDie(dataDir, n)
      violations.push(...(await startAgain(dataDir)).map((what) => `${name}, sync ${n}: ${what}`))
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
      if (!isKilled) {
        tell(`first start in ${name}: killed at each of its ${n - 1} syncs`)
        break
      }
      kills += 1
    }
  }
  return { kills, violations }
}

/** Whether it came to the n-th sync. */
async function startAndDie(dataDir: string, n: number): Promise<boolean> {
  const gateway = await GatewayChild.make({ dataDir, environment: oneThread })
  gateway.start({
    under: underStrace({ calls: 'fsync,fdatasync', effect: 'signal=SIGKILL', when: String(n) }),
  })
  const isReady = await gateway.ready().then(
    () => true,
    (error: unknown) => {
      if (gateway.isRunning) throw error
      return false
    },
  )
  await gateway.stop()
  return !isReady
}

async function startAgain(dataDir: string): Promise<string[]> {
  const gateway = await GatewayChild.make({ dataDir })
  gateway.start()
  let site: Site | undefined
  try {
    await gateway.ready()
    site = await Site.open({ dataDir, name: 'first' })
    await site.story('first-1')
    return await site.check()
  } finally {
    await gateway.stop()
    site?.close()
  }
}

async function makeDatabase(dataDir: string): Promise<string> {
  const embedded = await startEmbedded({ dataDir })
  await embedded.stop()
  return dataDir
}

async function makeUsed(dataDir: string): Promise<string> {
  const gateway = await GatewayChild.make({ dataDir })
  gateway.start()
  await gateway.ready()
  await gateway.stop()
  await rm(sandboxFilePath(dataDir))
  return dataDir
}
