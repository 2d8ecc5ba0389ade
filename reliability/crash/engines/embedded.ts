// The PostgreSQL that comes with the gateway, which must bring it back by itself.
import { setTimeout as pause } from 'node:timers/promises'
import { isThere, killAndWait, serverPid } from '../../../packages/gateway/test/support/data-dir.ts'
import { childrenNamed, childrenOf } from '../../support/children-of.ts'
import { withStored } from '../../support/stored.ts'
import type { Engine } from './engine.ts'

export function embeddedEngine(dataDir: string): Engine {
  return {
    environment: { DATA_DIR: dataDir },
    mayLag: false,
    stored: (work) => withStored(dataDir, work),
    async killServer() {
      const postmaster = await serverPid(dataDir)
      if (postmaster !== undefined) await killServer(postmaster)
    },
    async killBackend(seeded) {
      const postmaster = await serverPid(dataDir)
      const backends = postmaster === undefined ? [] : await childrenNamed(postmaster, '[local]')
      if (backends.length === 0) return
      try {
        process.kill(seeded.pick(backends), 'SIGKILL')
      } catch {
        // It ended by itself just now.
      }
    },
    async close() {},
  }
}

/** Its sessions live on for a moment and finish what they have; the server is dead when they are. */
export async function killServer(postmaster: number): Promise<void> {
  const sessions = await childrenOf(postmaster)
  await killAndWait(postmaster)
  while (sessions.some(isThere)) await pause(5)
}
