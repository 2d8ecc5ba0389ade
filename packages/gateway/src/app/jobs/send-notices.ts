// Sends notices when they are due. Whoever queues one tells nobody: it is found by looking.
import type { SendNotices } from '../../core/emails/send-notices.ts'
import { type Loop, startLoop } from '../../platform/jobs/loop.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'

export interface NoticeWorkerParts {
  readonly sendNotices: SendNotices
  readonly clock: Clock
  readonly log: Log
}

const lookAgainMs = 2_000
/** What is due and yet not claimed is in another worker's hands this very moment. */
const leastPauseMs = 20

export function startNoticeWorker({ sendNotices, clock, log }: NoticeWorkerParts): Loop {
  const stopping = new AbortController()
  const loop = startLoop({
    worker: 'send-notices',
    clock,
    log,
    turn: async () => {
      if ((await sendNotices.sendDue(stopping.signal)) > 0) return 0
      const nextMs = ((await sendNotices.nextDue()) ?? Number.POSITIVE_INFINITY) - clock.now()
      return Math.min(Math.max(leastPauseMs, nextMs), lookAgainMs)
    },
  })
  return {
    wake: loop.wake,
    stop() {
      stopping.abort()
      return loop.stop()
    },
  }
}
