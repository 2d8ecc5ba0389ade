// The connection from a process to its parent. Without the parent, no new connections arrive, so the process finishes
// its requests and ends.
import cluster from 'node:cluster'
import type { Snapshot } from '../../platform/observability/metrics/registry.ts'
import type { ToParent, ToProcess } from './messages.ts'

export interface ParentLine {
  ready(urls: { publicUrl: string; adminUrl: string }): void
  /** Combines this process's metrics with those of all processes. */
  shareMetrics(own: () => Snapshot): () => Promise<Snapshot>
  shopUrl(): string | undefined
  /** Sends the final metrics of this process. */
  goodbye(): Promise<void>
}

/** The parent waits one second for other processes. Without its response, the process returns its own metrics. */
const gatherWithinMs = 2_000

export function openParentLine(onStop: (options: { isPatient: boolean }) => void): ParentLine {
  const gathering = new Map<number, (snapshot: Snapshot) => void>()
  let gathers = 0
  let shopUrl: string | undefined
  let own: (() => Snapshot) | undefined

  process.on('message', (message: ToProcess) => {
    switch (message.kind) {
      case 'stop':
        return onStop(message)
      case 'ask':
        return send({ kind: 'snapshot', askId: message.askId, snapshot: own?.() ?? [] })
      case 'gathered':
        return gathering.get(message.gatherId)?.(message.snapshot)
      case 'shop':
        shopUrl = message.shopUrl
    }
  })
  const { worker } = cluster
  worker?.on('disconnect', () => {
    // Otherwise the cluster module would end the process at once, with requests in progress.
    worker.exitedAfterDisconnect = true
    onStop({ isPatient: false })
  })

  async function gather(snapshot: Snapshot): Promise<Snapshot> {
    const gatherId = ++gathers
    const { promise, resolve } = Promise.withResolvers<Snapshot>()
    gathering.set(gatherId, resolve)
    const giveUp = setTimeout(() => resolve(snapshot), gatherWithinMs)
    send({ kind: 'gather', gatherId, snapshot })
    try {
      return await promise
    } finally {
      clearTimeout(giveUp)
      gathering.delete(gatherId)
    }
  }

  return {
    ready: (urls) => send({ kind: 'ready', ...urls }),
    shopUrl: () => shopUrl,
    shareMetrics(snapshotOf) {
      own = snapshotOf
      return () => gather(snapshotOf())
    },
    goodbye: () =>
      new Promise((resolve) => {
        if (!process.connected || !own) return resolve()
        process.send?.({ kind: 'snapshot', askId: 0, snapshot: own() } satisfies ToParent, () => resolve())
      }),
  }
}

function send(message: ToParent): void {
  // A lost parent is reported by the end of the connection.
  if (process.connected) process.send?.(message, () => {})
}
