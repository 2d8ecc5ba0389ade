import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import { TestClock } from '../../../test/support/clock.ts'
import type { LaneLimits } from '../../core/callbacks/rules/delivery-lanes.ts'
import type { Recorded } from '../../core/callbacks/store/callback-outcomes.ts'
import type { ClaimedCallback, ClaimRequest } from '../../core/callbacks/store/callback-queue.ts'
import { recordingMax, startDeliveryWorker } from './delivery-worker.ts'

const lane = {
  merchantId: '1',
  host: 'shop.example',
  destinationId: '0197c5a0-0000-7000-8000-00000000000a',
}
const healthy = { failures: 0, pausedUntilMs: undefined }
const health = { host: healthy, destination: healthy }
const written: Recorded = {
  isWritten: true,
  failing: undefined,
  outcome: {
    verdict: { kind: 'acknowledged', isWarned: false },
    state: 'delivered',
    isNewlyExhausted: false,
    retriesMade: 0,
    nextAttemptAtMs: undefined,
  },
}

/** A lane with this many callbacks, a host that accepts each, and a database that records nothing until allowed. */
function deliver(t: TestContext, { waiting, limits }: { waiting: number; limits: LaneLimits }) {
  const clock = new TestClock()
  const recording: (() => void)[] = []
  let left = waiting
  let sent = 0
  let isRecording = false
  let outcomes = 0
  /** The number of outcomes at each flush. */
  const flushedAfter: number[] = []
  const worker = startDeliveryWorker({
    queue: {
      findDueLanes: async () => ({
        lanes: [{ ...lane, health }],
        isFull: false,
        nextDueAtMs: undefined,
      }),
      pageOfLanes: async () => ({ lanes: [], after: undefined }),
      async claim({ lanes: [asked], ...claim }: ClaimRequest) {
        const count = Math.min(left, asked?.most ?? 0)
        left -= count
        return { callbacks: Array.from({ length: count }, () => claimed(claim)), lanes: [] }
      },
      release: async () => {},
    },
    prepare: async () => ({ kind: 'sealed', url: '', body: '', isPublicOnly: false }),
    async send() {
      sent++
      await turn()
      return { kind: 'answered', httpStatus: 200, answer: Buffer.alloc(0), durationMs: 1 }
    },
    async record() {
      outcomes++
      if (!isRecording) await new Promise<void>((resolve) => recording.push(resolve))
      return written
    },
    flush: () => void flushedAfter.push(outcomes),
    hold: async () => {},
    newClaimId: () => 'claim',
    limits,
    signers: 2,
    clock,
    log: pino({ level: 'silent' }),
  })
  const record = () => {
    isRecording = true
    for (const end of recording.splice(0)) end()
  }
  t.after(async () => {
    record()
    await worker.stop()
  })
  return { record, flushedAfter, sent: () => sent, inFlight: () => worker.counts().inFlight }
}

function claimed({ claimId, claimedUntilMs }: Pick<ClaimRequest, 'claimId' | 'claimedUntilMs'>) {
  // Safe: the worker passes on the rest unread.
  return { ...lane, claimId, claimedUntilMs, health, dueAtMs: 0 } as ClaimedCallback
}

/** Waits until the worker has done everything that it can without time passing. */
async function settled(count: () => number): Promise<number> {
  for (let before = -1; before !== count(); ) {
    before = count()
    for (let i = 0; i < 50; i++) await turn()
  }
  return count()
}

test('a host that responds gets more callbacks before the first results are recorded', async (t) => {
  const limits = { inFlight: 100, inFlightPerHost: 4, inFlightPerMerchant: 100 }
  const { sent } = deliver(t, { waiting: 40, limits })
  assert.equal(await settled(sent), 40)
})

test('delivery stops while the database cannot record results', async (t) => {
  const limits = { inFlight: 100, inFlightPerHost: 50, inFlightPerMerchant: 100 }
  const waiting = recordingMax + 1_000
  const { sent, record, inFlight } = deliver(t, { waiting, limits })
  // A destination leaves some of its host's slots to its neighbors.
  assert.equal(await settled(sent), recordingMax + 44)
  assert.equal(inFlight(), 44)
  record()
  assert.equal(await settled(sent), waiting)
  assert.equal(inFlight(), 0)
})

test('results are batched while other deliveries are in flight, and no longer', async (t) => {
  const limits = { inFlight: 100, inFlightPerHost: 50, inFlightPerMerchant: 100 }
  const { sent, flushedAfter } = deliver(t, { waiting: 8, limits })
  assert.equal(await settled(sent), 8)
  assert.deepEqual(flushedAfter, [8])
})
