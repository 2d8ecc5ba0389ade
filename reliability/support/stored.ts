// A look into the database that a gateway runs itself, without a share in it: whoever held one would keep the server
// alive, or bring it back, in the gateway's place.
import { join } from 'node:path'
import { connectionTo } from '../../packages/gateway/src/database/embedded/ensure-running.ts'
import { readPostmasterFile } from '../../packages/gateway/src/database/embedded/postmaster-file.ts'
import { openPool, type Pool } from '../../packages/gateway/src/database/pool.ts'

export async function withStored<Result>(
  dataDir: string,
  work: (pool: Pool) => Promise<Result>,
): Promise<Result> {
  const postmaster = await readPostmasterFile(join(dataDir, 'postgres'))
  if (!postmaster) throw new Error(`no PostgreSQL runs in ${dataDir}`)
  const pool = openPool(connectionTo(postmaster.socketFolder), { max: 2, applicationName: 'reliability' })
  try {
    return await work(pool)
  } finally {
    await pool.close()
  }
}
