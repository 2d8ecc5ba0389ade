// The line from a process to the parent that keeps it running. When the parent is gone, so is whoever takes new
// connections for us: the process finishes what it has and ends.
import cluster from 'node:cluster'
import type { Snapshot } from '../../platform/observability/metrics/registry.ts'
import type { ToParent, ToProcess } from './messages.ts'

export interface ParentLine {
  ready(urls: { publicUrl: string; adminUrl: string }): void
  /** From what this process counts to what all of them do. */
  shareMetrics(own: () => Snapshot): () => Promise<Snapshot>
  shopUrl(): string | undefined
  /** The last word: what this process has counted. */
  goodbye(): Promise<void>
}

/** The parent itself waits a second for others. Without its answer we tell what we know. */
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
    // Left alone, the cluster module would end the process on the spot, requests under way and all.
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
  // A parent that is gone is told of by the end of the line.
  if (process.connected) process.send?.(message, () => {})
}
