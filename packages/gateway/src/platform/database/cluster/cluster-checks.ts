// Checks the requirements of a Citus cluster before tables are distributed, with a remedy for each fault.
import { StartFailure } from '../../runtime/start-failure.ts'
import type { Queryable } from '../pool.ts'

/** The oldest tested version. */
const oldestCitus = [11, 1] as const

export async function findCitus(database: Queryable): Promise<string> {
  const { rows } = await database.query<{ version: string | null }>(
    `select installed_version as version from pg_available_extensions where name = 'citus'`,
  )
  if (!rows[0])
    throw new StartFailure(
      'This PostgreSQL has no Citus, so there is nothing to spread the tables over.\nInstall Citus on the coordinator and the workers first (docs/operating.md), or stay on one PostgreSQL.',
    )
  const { version } = rows[0]
  if (version === null)
    throw new StartFailure(
      'Citus is installed on this server and not switched on in this database.\nRun in this database, here and on every worker, as a superuser: create extension citus;',
    )
  const [major = 0, minor = 0] = version.split(/[.-]/).map(Number)
  if (major < oldestCitus[0] || (major === oldestCitus[0] && minor < oldestCitus[1]))
    throw new StartFailure(`Citus ${version} is too old: ${oldestCitus.join('.')} or newer is needed.`)
  return version
}

interface Node {
  readonly name: string
  readonly port: number
  readonly group: number
  readonly isActive: boolean
}

export async function clusterFaults(database: Queryable): Promise<string[]> {
  const { rows: nodes } = await database.query<Node>(
    `select nodename as name, nodeport as port, groupid as group, isactive as "isActive"
       from pg_dist_node where noderole = 'primary'`,
  )
  const workers = nodes.filter(({ group }) => group > 0)
  const coordinator = nodes.find(({ group }) => group === 0)
  const faults: string[] = []
  if (workers.length === 0)
    faults.push(
      `The cluster has no worker: select citus_add_node('worker-1', 5432); for each, here on the coordinator.`,
    )
  if (!coordinator || (isLoopback(coordinator.name) && workers.some(({ name }) => !isLoopback(name))))
    faults.push(
      `The workers do not know where the coordinator is: select citus_set_coordinator_host('its name as the workers reach it', 5432);`,
    )
  for (const { name, port } of workers.filter(({ isActive }) => !isActive))
    faults.push(`The worker ${name}:${port} is not active: select citus_activate_node('${name}', ${port});`)
  faults.push(...(await rightsFaults(database)))
  return workers.length === 0 || faults.length > 0 ? faults : await workerFaults(database)
}

async function rightsFaults(database: Queryable): Promise<string[]> {
  const { rows } = await database.query<{ name: string; owner: boolean; tables: string[] | null }>(
    `select current_user as name,
            pg_has_role((select datdba from pg_database where datname = current_database()), 'usage') as owner,
            (select array_agg(relname::text) from pg_class
              where relnamespace = current_schema::regnamespace and relkind in ('r', 'p', 'v')
                and not pg_has_role(relowner, 'usage')
                and not exists (select from pg_depend
                                 where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
            ) as tables`,
  )
  const [right] = rows
  if (!right) return []
  return [
    ...(right.owner ? [] : [`${right.name} must own the database: alter database … owner to ${right.name};`]),
    ...(right.tables
      ? [
          `${right.name} must own the tables, and does not own ${right.tables.join(', ')}: alter table … owner to ${right.name};`,
        ]
      : []),
  ]
}

interface Asked {
  readonly nodename: string
  readonly nodeport: number
  readonly success: boolean
  readonly result: string
}

async function workerFaults(database: Queryable): Promise<string[]> {
  const ask = async (sql: string) =>
    (await database.query<Asked>('select * from run_command_on_workers($1)', [sql])).rows
  const faults: string[] = []
  const { rows } = await database.query<{ version: string; prepared: string; user: string }>(
    `select extversion as version, current_setting('max_prepared_transactions') as prepared, current_user as user
       from pg_extension where extname = 'citus'`,
  )
  const here = rows[0] ?? { version: '', prepared: '0', user: '' }
  const needed = 'set max_prepared_transactions to at least max_connections, and restart it.'
  if (here.prepared === '0') faults.push(`The coordinator keeps no prepared transactions: ${needed}`)
  for (const { nodename, nodeport, success, result } of await ask(
    `select coalesce((select extversion from pg_extension where extname = 'citus'), 'none') || ' ' || current_setting('max_prepared_transactions')`,
  )) {
    const worker = `${nodename}:${nodeport}`
    const [version, prepared] = result.split(' ')
    if (!success)
      faults.push(
        `The worker ${worker} cannot be asked (${result}): it needs a database of the same name, the role ${here.user}, and pg_hba.conf and ~/.pgpass that let the coordinator in.`,
      )
    else if (version !== here.version)
      faults.push(
        `The worker ${worker} has Citus ${version}, the coordinator ${here.version}: install the same everywhere, and create or alter the extension.`,
      )
    else if (prepared === '0') faults.push(`The worker ${worker} keeps no prepared transactions: ${needed}`)
  }
  return faults
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}
