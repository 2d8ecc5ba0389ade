// Looks into the database of a gateway that is to be broken.
import { join } from 'node:path'
import type { ConnectionOptions } from '../../packages/gateway/src/platform/database/connection.ts'
import { connectionTo } from '../../packages/gateway/src/platform/database/embedded/ensure-running.ts'
import { readPostmasterFile } from '../../packages/gateway/src/platform/database/embedded/postmaster-file.ts'
import { openPool, type Pool } from '../../packages/gateway/src/platform/database/pool.ts'

/**
 * The one that the gateway runs itself, without a share in it: whoever held one would keep the server alive, or bring it
 * back, in the gateway's place.
 */
export async function withStored<Result>(
  dataDir: string,
  work: (pool: Pool) => Promise<Result>,
): Promise<Result> {
  const postmaster = await readPostmasterFile(join(dataDir, 'postgres'))
  if (!postmaster) throw new Error(`no PostgreSQL runs in ${dataDir}`)
  return withPool(connectionTo(postmaster.socketFolder), work)
}

export async function withPool<Result>(
  connection: ConnectionOptions,
  work: (pool: Pool) => Promise<Result>,
): Promise<Result> {
  const pool = openPool(connection, { max: 2, applicationName: 'reliability' })
  try {
    return await work(pool)
  } finally {
    await pool.close()
  }
}
