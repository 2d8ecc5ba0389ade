// The doctor's checks of this machine: files with secrets, the disk, the ports.

import { constants } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Finding } from '../../adapters/cli/doctor.ts'
import { whyNotBound } from '../../platform/http/bind.ts'
import { type PortAddress, probePort } from '../../platform/http/probe-port.ts'
import { codeOf } from '../../platform/runtime/errors.ts'
import type { Config } from '../settings/config.ts'
import { failed, failedBy, ok, skipped, warning } from './findings.ts'

const gigabyte = 1_000_000_000
const answersWithinMs = 2_000

export async function checkFiles({ dataDir, masterKeyFile }: Config, dotEnvFile: string): Promise<Finding[]> {
  const secrets = [
    dotEnvFile,
    masterKeyFile ?? join(dataDir, 'master.key'),
    join(dataDir, 'sandbox-merchant.json'),
  ]
  const found = await Promise.all(
    secrets.map(async (path) => {
      const { mode } = (await stat(path).catch(() => undefined)) ?? { mode: 0 }
      if ((mode & 0o007) === 0) return []
      return failed('files', `Every user of this machine can read or change ${path}.`, `chmod 600 ${path}`)
    }),
  )
  const all = found.flat()
  return all.length > 0 ? all : [ok('files', 'Files with secrets are private.')]
}

export async function checkDisk(
  { dataDir }: Config,
  freeBytesOf: (folder: string) => Promise<number> = freeBytes,
): Promise<Finding[]> {
  const folder = await nearestFolder(dataDir)
  try {
    if (!(await stat(folder)).isDirectory())
      return [failed('disk', `DATA_DIR cannot be created: ${folder} is a file.`, 'Set DATA_DIR to a folder.')]
    await access(folder, constants.W_OK)
    const free = await freeBytesOf(folder)
    const found = `${(free / gigabyte).toFixed(1)} GB are free in ${folder}.`
    const fix = 'Free some space, or move DATA_DIR to a larger disk.'
    if (free < gigabyte) return [failed('disk', found, fix)]
    return [free < 5 * gigabyte ? warning('disk', found, fix) : ok('disk', found)]
  } catch (error) {
    const found = `DATA_DIR (${folder}) is not writable: ${codeOf(error)}.`
    return [
      failed(
        'disk',
        found,
        `Make the gateway’s user the owner of this folder (chown), or set another DATA_DIR.`,
      ),
    ]
  }
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** The folder, or its nearest existing parent. */
async function nearestFolder(path: string): Promise<string> {
  const code = await stat(path).then(() => undefined, codeOf)
  return code === 'ENOENT' || code === 'ENOTDIR' ? nearestFolder(dirname(path)) : path
}

export async function checkPorts(config: Config): Promise<Finding[]> {
  const { publicListener, adminListener, roles, mode, shopPort, railPort } = config
  const own = [
    { ...adminListener, hostSetting: 'ADMIN_HOST', portSetting: 'ADMIN_PORT' },
    ...(roles.includes('api') ? [{ ...publicListener, hostSetting: 'HOST', portSetting: 'PORT' }] : []),
  ]
  const { host } = publicListener
  const beside = [
    { host, port: shopPort, hostSetting: 'HOST', portSetting: 'SHOP_PORT' },
    { host, port: railPort, hostSetting: 'HOST', portSetting: 'RAIL_PORT' },
  ]
  const found = await Promise.all(own.map(checkPort))
  const isRunning = found.some(({ found: text }) => text.includes('A gateway listens'))
  if (mode !== 'sandbox' || isRunning) return found
  return [
    ...found,
    ...(await Promise.all(
      beside.flatMap((each) => (each.port ? [checkPort({ ...each, port: each.port })] : [])),
    )),
  ]
}

async function checkPort(at: Parameters<typeof whyNotBound>[1]): Promise<Finding> {
  const { port, portSetting } = at
  if (port === 0) return skipped('ports', `${portSetting} is 0: the system chooses a port.`)
  const error = await probePort(at)
  if (error === undefined) return ok('ports', `${portSetting} ${port} is free.`)
  if (error.code === 'EADDRINUSE' && (await isGateway(at)))
    return ok('ports', `A gateway listens on ${portSetting} ${port}.`)
  return failedBy('ports', new Error(whyNotBound(error, at)))
}

async function isGateway({ host, port }: PortAddress): Promise<boolean> {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return (await askHealth(`http://${name}:${port}`)) === 'alive'
}

/** The response of a gateway's /healthz, or why there is none. */
export async function askHealth(url: string): Promise<string> {
  try {
    const response = await fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(answersWithinMs) })
    const { status } = (await response.json().catch(() => ({}))) as { status?: unknown }
    return status === 'alive' ? 'alive' : `HTTP ${response.status}`
  } catch (error) {
    const { message, cause } = error as Error
    return cause instanceof Error ? cause.message : message
  }
}
