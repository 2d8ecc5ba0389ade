// Judges one delivery attempt and decides what follows.
import assert from 'node:assert/strict'
import { successCode } from '@tillgate/protocol'
import type { Delivery } from '../../../platform/runtime/delivery.ts'
import type { EndpointFormat } from './endpoint.ts'
import { nextRetry } from './retry-schedule.ts'

export type Verdict =
  | { readonly kind: 'acknowledged'; readonly isWarned: boolean }
  | { readonly kind: 'refused'; readonly httpStatus: number }
  | {
      readonly kind: 'unreachable'
      readonly reason: string
      /** The host received the request, but the response was incomplete. */
      readonly wasSent?: boolean
    }

export interface Progress {
  readonly state: CallbackState
  readonly attemptsMade: number
  readonly retriesMade: number
  readonly firstAttemptAtMs: number | undefined
  readonly nextAttemptAtMs: number | undefined
}

export type CallbackState = 'waiting' | 'delivered' | 'exhausted'

export interface Outcome {
  readonly verdict: Verdict
  readonly state: CallbackState
  readonly isNewlyExhausted: boolean
  readonly retriesMade: number
  /** Undefined: the callback leaves the queue. */
  readonly nextAttemptAtMs: number | undefined
}

/** HTTP 200 exactly; for Standard Webhooks any 2xx. */
export function isAcknowledged(delivery: Delivery, format: EndpointFormat = 'envelope'): boolean {
  if (delivery.kind !== 'answered') return false
  const { httpStatus } = delivery
  return format === 'standard' ? httpStatus >= 200 && httpStatus < 300 : httpStatus === 200
}

/** Without {"code":20000…} in its body, an acknowledgment counts with a warning. Standard Webhooks require no body. */
export function judge(delivery: Delivery, format: EndpointFormat = 'envelope'): Verdict {
  if (delivery.kind === 'unreachable') {
    const { reason, wasSent } = delivery
    return { kind: 'unreachable', reason, ...(wasSent && { wasSent }) }
  }
  if (!isAcknowledged(delivery, format)) return { kind: 'refused', httpStatus: delivery.httpStatus }
  return { kind: 'acknowledged', isWarned: format === 'envelope' && !hasSuccessCode(delivery.answer) }
}

/** Nearly every response is exactly this text and need not be parsed. */
const usualAcknowledgement = Buffer.from(`{"code":${successCode},"msg":""}`)

function hasSuccessCode(bytes: Buffer): boolean {
  if (bytes.equals(usualAcknowledgement)) return true
  try {
    const answer: unknown = JSON.parse(bytes.toString())
    return (
      typeof answer === 'object' && answer !== null && 'code' in answer && Number(answer.code) === successCode
    )
  } catch {
    return false
  }
}

/**
 * A resend uses no retry and moves none. If it fails, a delivered callback stays delivered, an exhausted one stays
 * exhausted, and a waiting one keeps its schedule.
 */
export function decideOutcome(
  progress: Progress,
  attempt: {
    readonly delivery: Delivery
    readonly format?: EndpointFormat | undefined
    readonly isResend: boolean
    readonly startedAtMs: number
    readonly nowMs: number
    /** From 0 to 1; called only if there is a next attempt. */
    readonly chance: () => number
  },
): Outcome {
  const { delivery, format, isResend, startedAtMs, nowMs, chance } = attempt
  const verdict = judge(delivery, format)
  const base = { verdict, isNewlyExhausted: false }
  const isFirst = progress.firstAttemptAtMs === undefined
  const retriesMade = progress.retriesMade + (isFirst || isResend ? 0 : 1)

  if (verdict.kind === 'acknowledged') {
    return { ...base, state: 'delivered', retriesMade, nextAttemptAtMs: undefined }
  }
  if (progress.state !== 'waiting') {
    assert(isResend, 'only a resend sends what is delivered or exhausted')
    return { ...base, state: progress.state, retriesMade, nextAttemptAtMs: undefined }
  }
  if (isResend && progress.nextAttemptAtMs !== undefined) {
    return { ...base, state: 'waiting', retriesMade, nextAttemptAtMs: progress.nextAttemptAtMs }
  }
  const retryAfterMs = delivery.kind === 'answered' ? delivery.retryAfterMs : undefined
  const firstAttemptAtMs = progress.firstAttemptAtMs ?? startedAtMs
  const retry = nextRetry({ firstAttemptAtMs, retriesMade, nowMs, retryAfterMs, chance: chance() })
  if (retry.kind === 'exhausted') {
    return { ...base, state: 'exhausted', isNewlyExhausted: true, retriesMade, nextAttemptAtMs: undefined }
  }
  return {
    ...base,
    state: 'waiting',
    retriesMade: retriesMade + retry.retriesSkipped,
    nextAttemptAtMs: retry.atMs,
  }
}
