// Spread tables on the Citus cluster that TEST_CITUS_URLS names, the coordinator first. Its nodes are killed by one of
// their sessions, after which each comes back by itself: workers in turn, or the coordinator.
import { parseDatabaseUrl, withDatabase } from '../../../packages/gateway/src/platform/database/connection.ts'
import { dropOnNodes, killNode, makeClusterTemplate } from '../../../packages/gateway/test/support/cluster.ts'
import { urlOf } from '../../../packages/gateway/test/support/server.ts'
import { withPool } from '../../support/stored.ts'
import type { Engine } from './engine.ts'

export async function citusEngine(dataDir: string, urls: string): Promise<Engine> {
  const nodes = urls.split(/[ ,]+/).map(parseDatabaseUrl)
  const [coordinator, ...workers] = nodes
  if (!coordinator || workers.length === 0) throw new Error('TEST_CITUS_URLS names no workers')
  const name = `crash_${process.pid}`
  await makeClusterTemplate(nodes, name)
  const connection = withDatabase(coordinator, name)
  await withPool(connection, async (pool) => {
    // As docs/operating.md asks for.
    await pool.query(`alter system set citus.recover_2pc_interval = '5s'`)
    await pool.query('select pg_reload_conf()')
  })
  return {
    environment: { DATA_DIR: dataDir, DATABASE_URL: urlOf(connection) },
    // A worker that was killed between the two phases of a commit shows it when the coordinator has ended the second.
    mayLag: true,
    stored: (work) => withPool(connection, work),
    killServer: (seeded) => killNode(seeded.pick(workers)),
    killBackend: () => killNode(coordinator),
    close: () => dropOnNodes(nodes, name),
  }
}
