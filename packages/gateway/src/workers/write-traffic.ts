// Writes down, every few seconds, how many requests this process has answered, and takes away what the overview no
// longer shows.
import type { Clock } from '../clock.ts'
import { hourMs, sliceMs, startOf } from '../domain/time-slices.ts'
import type { Log } from '../log.ts'
import { keptMs } from '../operations/count-hours.ts'
import type { TrafficRecorder } from '../operations/traffic-recorder.ts'
import type { ApiTraffic } from '../store/api-traffic.ts'
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
