// Serves the SDK for `npm install`: built at the first request in a thread, then served from memory.
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { FastifyInstance } from 'fastify'
import { type Prepared, prepare, sendPrepared } from '../../kit/prepared.ts'
import { clientFiles, hasClients } from './client-packages.ts'
import { sdkPath } from './paths.ts'

export function serveSdk(listener: FastifyInstance, publicUrl: () => string): void {
  let made: Promise<Prepared> | undefined
  const madePackage = (): Promise<Prepared> => {
    made ??= makePackage().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
  listener.get(sdkPath, async (request, reply) =>
    sendPrepared(request, reply.header('cache-control', 'public, no-cache'), await madePackage()),
  )
  if (!hasClients) return
  const prepared = new Map<string, Prepared>()
  for (const [path, { type, make }] of Object.entries(clientFiles))
    listener.get(path, async (request, reply) => {
      const file = prepared.get(path) ?? prepare(type, make(publicUrl()))
      prepared.set(path, file)
      return sendPrepared(request, reply.header('cache-control', 'public, no-cache'), file)
    })
}

/** A packed gateway contains it; a source checkout builds it. */
const carried = join(import.meta.dirname, 'tillgate-sdk.tgz')

async function makePackage(): Promise<Prepared> {
  if (existsSync(carried)) return prepare('application/gzip', await readFile(carried))
  const worker = new Worker(new URL('./make-package.ts', import.meta.url), {
    // Node 24 warns about stripTypeScriptTypes, which this program also uses.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  // An error of the thread rejects it.
  const [archive] = (await once(worker, 'message')) as [Uint8Array]
  return prepare('application/gzip', Buffer.from(archive))
}
