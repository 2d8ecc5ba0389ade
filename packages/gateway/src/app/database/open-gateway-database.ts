// Opens the configured database with the tables of this version.
import { join } from 'node:path'
import type { EarlyEmbedded } from '../../platform/database/embedded/early-embedded.ts'
import { type DatabaseEvent, type OpenDatabase, openDatabase } from '../../platform/database/open-database.ts'
import type { Config } from '../settings/config.ts'

export interface DatabaseOptions {
  readonly config: Config
  readonly early?: EarlyEmbedded | undefined
  readonly report: (event: DatabaseEvent) => void
  readonly signal: AbortSignal
}

export const migrationsFolder = join(import.meta.dirname, '../../../migrations')

export function openGatewayDatabase({
  config,
  early,
  report,
  signal,
}: DatabaseOptions): Promise<OpenDatabase> {
  return openDatabase({
    dataDir: config.dataDir,
    databaseUrl: config.databaseUrl,
    poolMax: config.databasePoolMax,
    processes: config.processes,
    early,
    isPreparing: config.isPreparing,
    migrationsFolder,
    report,
    signal,
  })
}
