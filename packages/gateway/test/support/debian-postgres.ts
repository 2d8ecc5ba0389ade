// PostgreSQL as Debian ships it, in a folder of its own and as an ordinary user: a primary, standbys of it, and its
// tools. Gone again when `endDebianPostgres` is called, as every test file does at its end.
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chownSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { until } from './callbacks.ts'

export interface DebianPostgres {
  readonly port: number
  /** host:port, as in a DATABASE_URL. */
  readonly address: string
  query<Row extends pg.QueryResultRow>(sql: string, database?: string): Promise<Row[]>
  /** A copy that follows this server and, once it is there, must confirm every commit. */
  addSynchronousStandby(atPort?: number): Promise<DebianPostgres>
  /** From now on it takes writes, and waits for no standby. */
  promote(): Promise<void>
  /** All of it at once, as when the machine loses its power. */
  kill(): Promise<void>
  log(): string
}

export const databaseUser = 'tillgate'

/** One folder for the file, which the servers' user may enter; with the tools that run in it. */
export const workshop = makeWorkshop()

function makeWorkshop() {
  const folder = mkdtempSync(join(tmpdir(), 'tillgate-ops-'))
  const [bin = ''] = globSync('/usr/lib/postgresql/*/bin').sort().toReversed()
  // PostgreSQL does not run as root; nobody does not mind.
  const account: Pick<SpawnOptions, 'uid' | 'gid'> =
    process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  if (account.uid !== undefined) chownSync(folder, account.uid, account.gid ?? 0)
  return {
    folder,
    account,
    tool: (name: string, ...args: string[]): string =>
      execFileSync(join(bin, name), args, { ...account, cwd: folder, encoding: 'utf8', stdio: 'pipe' }),
    binary: (name: string): string => join(bin, name),
  }
}

const servers: DebianPostgres[] = []

export async function endDebianPostgres(): Promise<void> {
  for (const { kill } of servers.splice(0)) await kill()
  rmSync(workshop.folder, { recursive: true, force: true, maxRetries: 10 })
}

export async function startDebianPostgres(): Promise<DebianPostgres> {
  const port = await freePort()
  const data = join(workshop.folder, `data-${port}`)
  workshop.tool('initdb', '--pgdata', data, '--username', databaseUser, '--auth', 'trust', '--no-sync')
  appendFileSync(
    join(data, 'postgresql.conf'),
    `listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 60\nwal_level = logical\nhot_standby = on\n`,
  )
  const server = await run({ data, port })
  await server.query(`create database ${databaseUser}`, 'postgres')
  return server
}

async function run({ data, port }: { data: string; port: number }): Promise<DebianPostgres> {
  const child = spawn(workshop.binary('postgres'), ['-D', data, '-p', String(port)], {
    ...workshop.account,
    cwd: workshop.folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const kill = () => killAll(child)
  const query = async <Row extends pg.QueryResultRow>(
    sql: string,
    database = databaseUser,
  ): Promise<Row[]> => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: databaseUser, database })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query<Row>(sql)).rows
    } finally {
      await client.end()
    }
  }
  await until(() =>
    query('select', 'postgres').then(
      () => true,
      () => {
        if (child.exitCode !== null) throw new Error(`PostgreSQL did not start:\n${log}`)
        return false
      },
    ),
  )
  const server: DebianPostgres = {
    port,
    address: `127.0.0.1:${port}`,
    query,
    async promote() {
      workshop.tool('pg_ctl', 'promote', '--wait', '--pgdata', data)
      // It came with the copy.
      await query('alter system reset synchronous_standby_names', 'postgres')
      await query('select pg_reload_conf()', 'postgres')
    },
    kill,
    log: () => log,
    async addSynchronousStandby(atPort) {
      const standbyPort = atPort ?? (await freePort())
      const copy = join(workshop.folder, `data-${standbyPort}`)
      rmSync(copy, { recursive: true, force: true })
      const from = `host=127.0.0.1 port=${port} user=${databaseUser} application_name=standby`
      workshop.tool(
        'pg_basebackup',
        '--pgdata',
        copy,
        '--dbname',
        from,
        '--write-recovery-conf',
        '--checkpoint=fast',
        '--no-sync',
      )
      const standby = await run({ data: copy, port: standbyPort })
      await query(`alter system set synchronous_standby_names = 'standby'`, 'postgres')
      await query('select pg_reload_conf()', 'postgres')
      await until(async () => {
        const rows = await query<{ sync_state: string }>(
          'select sync_state from pg_stat_replication',
          'postgres',
        )
        return rows[0]?.sync_state === 'sync'
      })
      return standby
    },
  }
  servers.push(server)
  return server
}

/** A server of its own from a base backup that is taken now, as after the loss of the first one. */
export async function restoreBaseBackup(of: DebianPostgres): Promise<DebianPostgres> {
  const port = await freePort()
  const data = join(workshop.folder, `data-${port}`)
  const from = `host=127.0.0.1 port=${of.port} user=${databaseUser}`
  workshop.tool('pg_basebackup', '--pgdata', data, '--dbname', from, '--checkpoint=fast', '--no-sync')
  return run({ data, port })
}

async function killAll(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const gone = once(child, 'exit')
  const children = childrenOf(child.pid)
  for (const pid of [child.pid, ...children]) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended by itself.
    }
  }
  await gone
  // A backend that was just being started still has the pipe, and would keep this process from ending.
  child.stderr?.destroy()
}

function childrenOf(parent: number): number[] {
  return globSync('/proc/[0-9]*/stat').flatMap((path) => {
    try {
      // After the name in brackets come the state and the parent.
      const [, parentId] = readFileSync(path, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      return Number(parentId) === parent ? [Number(path.split('/')[2])] : []
    } catch {
      return []
    }
  })
}

export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** A folder in the workshop that its user may write to. */
export function workFolder(name: string): string {
  const folder = join(workshop.folder, name)
  mkdirSync(folder)
  if (workshop.account.uid !== undefined) chownSync(folder, workshop.account.uid, workshop.account.gid ?? 0)
  return folder
}
