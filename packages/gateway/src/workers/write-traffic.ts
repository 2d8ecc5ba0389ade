// Writes down, every few seconds, how many requests this process has answered, and takes away what the overview no
// longer shows.

import { keptMs } from '../overview/count-hours.ts'
import { hourMs, sliceMs, startOf } from '../overview/rules/time-slices.ts'
import type { ApiTraffic } from '../overview/store/api-traffic.ts'
import type { TrafficRecorder } from '../overview/traffic-recorder.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { startLoop } from './loop.ts'

export interface TrafficWriterParts {
  readonly recorder: TrafficRecorder
  readonly traffic: ApiTraffic
  readonly processId: string
  readonly clock: Clock
  readonly log: Log
}

export interface TrafficWriter {
  /** Writes down what is not yet written. */
  stop(): Promise<void>
}

const worker = 'write-traffic'
const writeEveryMs = 10_000
const slicesKeptMs = 3 * hourMs

export function startTrafficWriter(parts: TrafficWriterParts): TrafficWriter {
  const { recorder, traffic, processId, clock, log } = parts
  let tidiedAtMs = clock.now()

  const write = async (): Promise<void> => {
    const changed = recorder.changed()
    if (changed.length > 0) await traffic.write(processId, changed)
    recorder.written(changed, clock.now())
  }

  const tidy = async (nowMs: number): Promise<void> => {
    if (startOf(nowMs, hourMs) === startOf(tidiedAtMs, hourMs)) return
    await traffic.removeBefore({ lengthMs: sliceMs, timeMs: nowMs - slicesKeptMs })
    await traffic.removeBefore({ lengthMs: hourMs, timeMs: nowMs - keptMs })
    tidiedAtMs = nowMs
  }

  const loop = startLoop({
    worker,
    clock,
    log,
    turn: async () => {
      await write()
      await tidy(clock.now())
      return writeEveryMs
    },
  })
  return {
    async stop() {
      await loop.stop()
      await write().catch((err: unknown) => log.warn({ worker, err }, 'the last counts of requests are lost'))
    },
  }
}
