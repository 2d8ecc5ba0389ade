// Opens and verifies a merchant's request. Every failure, including an unknown merchant, gets the same response and
// the same cost: two decryptions, two verifications and one query. Admission hides the remaining 80 µs.
import {
  describeClock,
  describeDuration,
  Failure,
  type OpeningTools,
  openRequestEnvelope,
  type RequestEnvelope,
  timestampWindowMs,
} from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { MerchantDirectory } from './merchant-directory.ts'
import type { NoteKeyUse } from './note-key-use.ts'
import type { Merchant } from './rules/merchant.ts'

export interface OpenedRequest {
  readonly merchant: Merchant
  /** The exact text that was signed. */
  readonly body: string
}

/** Undefined if it could not be opened, for any reason. */
export type OpenRequest = (envelope: RequestEnvelope, load: Load) => Promise<OpenedRequest | undefined>

export interface Load {
  /** On an idle process, verifying on the event loop avoids waiting for a thread. */
  readonly isQuiet: boolean
}

export function makeOpenRequest({
  directory,
  noteKeyUse,
  clock,
  toolsFor,
}: {
  directory: MerchantDirectory
  noteKeyUse: NoteKeyUse
  clock: Clock
  toolsFor: (load: Load) => OpeningTools
}): OpenRequest {
  return async (envelope, load) => {
    const nowMs = clock.now()
    checkTimestamp(envelope, nowMs)
    return open(envelope, { nowMs, tools: toolsFor(load) })
  }

  async function open(
    envelope: RequestEnvelope,
    { nowMs, tools }: { nowMs: number; tools: OpeningTools },
  ): Promise<OpenedRequest | undefined> {
    const { merchantId } = envelope
    const remembered = directory.remembered(merchantId, nowMs)
    let { known } = remembered ?? (await directory.load(merchantId, nowMs))
    let opened = await openRequestEnvelope(envelope, known?.keys, tools)
    if (opened === undefined && remembered) {
      // The key may be newer than the cache.
      const triedKeys = known?.keysVersion
      known = (await directory.load(merchantId, nowMs)).known
      if (known && known.keysVersion !== triedKeys)
        opened = await openRequestEnvelope(envelope, known.keys, tools)
    }
    if (!known || opened === undefined) return undefined
    if (!known.isUseSettled) noteKeyUse(known, opened, nowMs)
    return { merchant: known.merchant, body: opened.body }
  }
}

/** Checked before any cryptography, because it is cheap. */
function checkTimestamp({ timestamp }: RequestEnvelope, nowMs: number): void {
  const aheadMs = Number(timestamp) - nowMs
  if (Math.abs(aheadMs) <= timestampWindowMs) return
  const direction = aheadMs > 0 ? 'ahead of' : 'behind'
  const gap = `${describeDuration(aheadMs)} ${direction} the gateway's clock (${describeClock(nowMs)})`
  throw new Failure('timestamp_outside_window', {
    field: 'timestamp',
    message: `timestamp is ${gap}; at most 5 minutes are allowed. Set the clock of your server, and send the current time in milliseconds.`,
  })
}
