// Clocks that are set while the gateway works, forward and back: its own, its database's, and both, as when somebody
// sets the machine's. Debian's faketime gives each its clock; time that only counts on goes on as it does.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { findBinaries } from '../../packages/gateway/src/platform/database/embedded/binaries.ts'
import { prepareCluster } from '../../packages/gateway/src/platform/database/embedded/cluster-folder.ts'
import { socketFolderFor } from '../../packages/gateway/src/platform/database/embedded/socket-folder.ts'
import { callAs } from '../../packages/gateway/src/platform/database/embedded/system-account.ts'
import { faketimeLibrary } from '../support/debian-tools.ts'
import { GatewayChild } from '../support/gateway-child.ts'
import { type Fault, type FaultParts, readyzSays, underLoad } from './fault.ts'

const minute = 60
const hour = 60 * minute
/**
 * A minute off either way; hours back, until somebody corrects it; then hours forward twice, and never back: what is due
 * by a clock that is then set back waits until the clock comes there again.
 */
const jumpsSeconds = [minute, -minute, 0, -6 * hour, 0, 6 * hour, 12 * hour]
/** Past what clocks may differ by, the merchants' are set as well. */
const merchantsFollowFromSeconds = 5 * minute
const eachForMs = 5_000
const shoppers = 8

type Who = 'gateway' | 'database' | 'both'

export const clockJumps: Fault = {
  name: 'clock jumps',
  tools: ['faketime'],
  async run(parts) {
    const wrong: string[] = []
    for (const who of ['gateway', 'database', 'both'] as const)
      wrong.push(...(await jump(who, { ...parts, home: join(parts.home, who) })))
    return wrong
  },
}

async function jump(who: Who, { home, tell }: FaultParts): Promise<readonly string[]> {
  const dataDir = join(home, 'data')
  await mkdir(dataDir, { recursive: true })
  const clockFile = join(home, 'clock')
  const set = (seconds: number) => writeFile(clockFile, `${seconds < 0 ? '' : '+'}${seconds}\n`)
  await set(0)
  const environment = {
    LD_PRELOAD: faketimeLibrary() ?? '',
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  }
  const endServer = who === 'gateway' ? undefined : await startServer(dataDir, environment)
  const gateway = await GatewayChild.make({ dataDir, environment: who === 'database' ? {} : environment })
  let offsetSeconds = 0
  const isFollowed = () => who !== 'database' && Math.abs(offsetSeconds) >= merchantsFollowFromSeconds
  const now = () => Date.now() + (isFollowed() ? offsetSeconds * 1_000 : 0)
  try {
    gateway.start()
    await gateway.ready()
    const name = `clock jumps of ${who}`
    return await underLoad({ dataDir, gateway, name, now, shoppers, tell }, async (site) => {
      const wrong: string[] = []
      for (const seconds of jumpsSeconds) {
        await set(seconds)
        offsetSeconds = seconds
        await pause(eachForMs)
        const during = `the clock of ${who} is ${seconds} s off`
        wrong.push(...(await readyzSays(gateway, { isReady: true, withinMs: 5_000, while: during })))
        // While it is far back, those stand still who had paid just before.
        if (seconds >= -minute) await site.moreOrders(2)
      }
      return wrong
    })
  } finally {
    await gateway.stop()
    await endServer?.()
  }
}

/** The server as the gateway would start it, with an environment that the gateway would not give it. */
async function startServer(
  dataDir: string,
  environment: Record<string, string>,
): Promise<() => Promise<void>> {
  const binaries = await findBinaries()
  const cluster = await prepareCluster(dataDir, { binaries, durable: true, onCreate: () => {} })
  const { folder, account } = cluster
  const sockets = await socketFolderFor(folder, { account })
  const settings = [`unix_socket_directories=${sockets}`, 'unix_socket_permissions=0700', 'listen_addresses=']
  const call = callAs(account, binaries.postgres, ['-D', folder, ...settings.flatMap((each) => ['-c', each])])
  const child = spawn(call.command, call.args, {
    cwd: '/',
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC', ...environment },
    stdio: 'ignore',
    ...(call.uid === undefined ? {} : { uid: call.uid, gid: call.gid }),
  })
  const gone = once(child, 'exit')
  return async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT')
    await gone
  }
}
