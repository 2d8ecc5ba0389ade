// Starts the PostgreSQL server of a data folder as a process that outlives the gateway, and reports PostgreSQL's own
// reason if it does not start.
import { spawn } from 'node:child_process'
import { type FileHandle, open, rename, stat } from 'node:fs/promises'
import { type Cluster, programEnvironment } from './cluster-folder.ts'
import { socketFolderFor } from './socket-folder.ts'
import { callAs } from './system-account.ts'

const logMaxBytes = 10 * 1024 * 1024

export type Settings = Readonly<Record<string, string>>

const essentials: Settings = {
  cluster_name: 'tillgate',
  // The server has no network, only a socket in a folder (0700) of the owner. pg_hba.conf says "trust", because an
  // account that reaches the socket already owns the data files.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  // Log only fatal errors and the server's own events. Details of a failed statement would put merchants' data into
  // the log.
  log_min_messages: 'log',
  log_checkpoints: 'off',
  // Frees the connection of a killed gateway within seconds, even during a long statement.
  client_connection_check_interval: process.platform === 'linux' ? '5s' : '0',
}

export interface StartAttempt {
  readonly pid: number | undefined
  readonly socketFolder: string
  exited(): { readonly reason: string } | undefined
  words(): Promise<string>
}

export async function startPostmaster(cluster: Cluster, settings: Settings): Promise<StartAttempt> {
  const { folder, account, binaries, logFile } = cluster
  const socketFolder = await socketFolderFor(folder, { account })
  const all: Settings = { ...essentials, unix_socket_directories: quoted(socketFolder), ...settings }
  const args = ['-D', folder, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const call = callAs(account, binaries.postgres, args)
  const log = await openLog(logFile)
  try {
    const { size: logBeginsAt } = await log.stat()
    // In its own session, Ctrl-C in a terminal stops only the gateway.
    const child = spawn(call.command, call.args, {
      cwd: '/',
      detached: true,
      env: programEnvironment(),
      stdio: ['ignore', log.fd, log.fd],
      ...(call.uid === undefined ? {} : { uid: call.uid, gid: call.gid }),
    })
    let exited: { reason: string } | undefined
    child.on('error', (error) => {
      exited = { reason: error.message }
    })
    child.on('exit', (code, signal) => {
      exited = { reason: signal ? `ended by ${signal}` : `exit code ${code}` }
    })
    child.unref()
    return {
      pid: child.pid,
      socketFolder,
      exited: () => exited,
      words: () => readFrom(logFile, logBeginsAt),
    }
  } finally {
    await log.close()
  }
}

// The setting is a comma-separated list of folders.
function quoted(folder: string): string {
  return `"${folder.replaceAll('"', '""')}"`
}

async function openLog(file: string): Promise<FileHandle> {
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  )
  if (size > logMaxBytes) await rename(file, `${file}.1`)
  return open(file, 'a', 0o600)
}

async function readFrom(file: string, position: number): Promise<string> {
  const handle = await open(file, 'r')
  try {
    const buffer = Buffer.alloc(64 * 1024)
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}
