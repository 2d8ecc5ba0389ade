// Data folders for tests of the embedded PostgreSQL: removed afterwards, together with a server that a failed
// test left running on them. What a killed run leaves is known by its name and removed by the next (server.ts).
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startEmbedded } from '../../src/platform/database/embedded/embedded.ts'

type Cleanup = { after(step: () => Promise<void>): void }

export async function emptyDataDir(t: Cleanup): Promise<string> {
  const home = await mkdtemp(path.join(os.tmpdir(), `tillgate-test-${process.pid}-`))
  t.after(async () => {
    await endServer(path.join(home, 'data'))
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  })
  return path.join(home, 'data')
}

/** A copy of a folder that was made once, because initdb is the slowest part of a start. */
export async function usedDataDir(t: Cleanup, first: string): Promise<string> {
  const dataDir = await emptyDataDir(t)
  await copyFolder(first, dataDir)
  return dataDir
}

/** By the system's cp: Node's own takes 0.8 s for such a folder, this 0.1 s. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true })
  await promisify(execFile)('cp', ['-a', from, to])
}

export async function makeDataDir(t: Cleanup): Promise<string> {
  const dataDir = await emptyDataDir(t)
  const embedded = await startEmbedded({ dataDir, settings: { fsync: 'off' } })
  await embedded.stop()
  return dataDir
}

export async function serverPid(dataDir: string): Promise<number | undefined> {
  const text = await readFile(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(text, 10)
  return Number.isInteger(pid) ? pid : undefined
}

/** A killed process is waited for, because the signal only asks for its end. */
export async function killAndWait(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL')
  while (isThere(pid)) await pause(5)
}

export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function endServer(dataDir: string): Promise<void> {
  const pid = await serverPid(dataDir)
  if (pid === undefined || pid === process.pid || !isThere(pid)) return
  process.kill(pid, 'SIGQUIT')
  while (isThere(pid)) await pause(5)
}
