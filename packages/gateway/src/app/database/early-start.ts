// Starts the embedded PostgreSQL before the gateway itself is loaded.
import { type EarlyEmbedded, startEmbeddedEarly } from '../../platform/database/embedded/early-embedded.ts'
import { embeddedSettings } from '../../platform/database/open-database.ts'
import { probePort } from '../../platform/http/probe-port.ts'
import type { Config } from '../settings/config.ts'

/** Undefined if a port is taken: a gateway that was started by mistake must not touch the data folder. */
export async function startDatabaseEarly(config: Config): Promise<EarlyEmbedded | undefined> {
  const { dataDir, databasePoolMax: poolMax, processes, roles, adminListener, publicListener } = config
  const listeners = roles.includes('api') ? [adminListener, publicListener] : [adminListener]
  const troubles = await Promise.all(listeners.map(probePort))
  if (troubles.some((trouble) => trouble !== undefined)) return undefined
  const early = startEmbeddedEarly({ dataDir, settings: embeddedSettings({ processes, poolMax }) })
  await early.begun
  return early
}
