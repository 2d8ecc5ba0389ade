// Disputes at the simulated bank: opened some time after a payment, won or lost, and now and then reopened or reversed.
// Notifications come late, twice, in another order, or not at all; only the last change is repeated until it is heard.
import type { DisputeMessage, DisputeStatus } from '@tillgate/protocol'
import type { Owner } from './scheduler.ts'
import type { Seeded } from './seeded.ts'
import type { VirtualTime } from './time.ts'

interface Dispute {
  readonly transactionId: string
  readonly amountMinor: bigint
  readonly feeMinor: bigint
  readonly changes: readonly { readonly atMs: number; readonly status: DisputeStatus }[]
}

export interface DisputesGiven {
  readonly time: VirtualTime
  readonly seeded: Seeded
  readonly world: Owner
  readonly send: (notification: object) => Promise<boolean>
}

const minute = 60_000
const hour = 60 * minute
const courses: readonly (readonly DisputeStatus[])[] = [
  ['open', 'won'],
  ['open', 'lost'],
  ['open', 'lost'],
  ['open', 'lost', 'won'],
  ['open', 'won', 'open', 'lost'],
]

export class SimulatedDisputes {
  readonly all = new Map<string, Dispute>()
  readonly #given: DisputesGiven

  constructor(given: DisputesGiven) {
    this.#given = given
  }

  /** Of some payments, if they are approved by then. */
  async maybeOpen(transactionId: string, paidMinor: bigint, isApproved: () => boolean): Promise<void> {
    const { seeded, time, world } = this.#given
    if (!seeded.isLucky(0.3)) return
    await time.wait(world, seeded.whole(minute, 40 * hour))
    if (!isApproved()) return
    let leftMinor = paidMinor
    for (let parts = seeded.pick([1, 1, 2]); parts > 0 && leftMinor > 0n; parts--) {
      const amountMinor = seeded.isLucky(0.5)
        ? leftMinor
        : 1n + BigInt(seeded.whole(0, Number(leftMinor - 1n)))
      leftMinor -= amountMinor
      this.#open(transactionId, amountMinor)
    }
  }

  #open(transactionId: string, amountMinor: bigint): void {
    const { seeded, time } = this.#given
    let atMs = time.nowMs
    const changes = seeded.pick(courses).map((status) => {
      const change = { atMs, status }
      atMs += seeded.pick([0, seeded.whole(minute, hour), seeded.whole(hour, 40 * hour)])
      return change
    })
    const disputeId = `dp_${this.all.size + 1}`
    const feeMinor = seeded.isLucky(0.5) ? 15n : 0n
    this.all.set(disputeId, { transactionId, amountMinor, feeMinor, changes })
    changes.forEach((change, index) => {
      void this.#notify(disputeId, change, { isLast: index === changes.length - 1 })
    })
  }

  answer({ disputeId, transactionId }: DisputeMessage): object {
    const dispute = this.all.get(disputeId)
    const status = dispute && this.statusOf(dispute)
    if (!dispute || dispute.transactionId !== transactionId || !status) return { status: 'unknown' }
    const { amountMinor, feeMinor } = dispute
    return { status, amountMinor: String(amountMinor), feeMinor: String(feeMinor), currency: 'USD' }
  }

  statusOf({ changes }: Dispute): DisputeStatus | undefined {
    return changes.findLast(({ atMs }) => atMs <= this.#given.time.nowMs)?.status
  }

  async #notify(
    disputeId: string,
    { atMs, status }: Dispute['changes'][number],
    { isLast }: { readonly isLast: boolean },
  ): Promise<void> {
    const { seeded, time, world, send } = this.#given
    const { transactionId } = this.all.get(disputeId) ?? {}
    const type = `dispute.${status === 'open' ? 'opened' : status}`
    await time.wait(world, Math.max(0, atMs - time.nowMs))
    if (seeded.isLucky(0.3)) await time.wait(world, seeded.whole(1_000, 6 * hour))
    const most = isLast ? 100 : seeded.whole(0, 2)
    for (let tries = 0; tries < most; tries++) {
      const isHeard = await send({ type, version: 1, disputeId, transactionId })
      if (isLast && isHeard && !seeded.isLucky(0.3)) return
      await time.wait(world, seeded.whole(1_000, 10 * minute))
    }
  }
}
