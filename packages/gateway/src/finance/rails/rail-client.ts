// Calls a rail: one signed message, one signed response, within the outbound client's limits. An unsigned or invalid
// response counts as a failure and changes nothing.
import assert from 'node:assert/strict'
import {
  type CaptureMessage,
  type DisputeMessage,
  Failure,
  makeUuid,
  type RailMessage,
  type RailResponseVerdict,
  type RandomBytes,
  type ResponseContext,
  type SettlementReport,
  signWebhook,
  verifyRailResponse,
} from '@tillgate/protocol'
import type { RailCall } from '../../core/orders/payments/rules/rail-task.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { KnownRail } from './rail-directory.ts'

export const maxRailAnswerBytes = 64 * 1024
export const railTimeoutMs = 10_000

/** The part of the outbound client that this needs. */
export type RailPost = (request: {
  readonly url: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}) => Promise<
  | {
      readonly kind: 'answered'
      readonly httpStatus: number
      /** Lowercase names. Without headers, no response is valid. */
      readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined
      readonly answer: Buffer
      readonly durationMs: number
    }
  | {
      readonly kind: 'unreachable'
      readonly reason: string
      readonly detail: string
      readonly durationMs: number
    }
>

export type RailReply<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly call: RailCall }
  | { readonly kind: 'failed'; readonly failure: string; readonly call: RailCall }

interface AnyAnswer {
  readonly status: string
  readonly reason?: string
  readonly reference?: string
}

export type AskRail = <Answer extends AnyAnswer>(
  rail: KnownRail,
  message: RailMessage | CaptureMessage | SettlementReport | DisputeMessage,
  parse: (text: string) => Answer,
) => Promise<RailReply<Answer>>

export interface RailClientParts {
  readonly post: RailPost
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Log
}

const maxDetailLength = 300

/**
 * One text for a closed port, a timeout, a reset and an unsigned response, so that an operator who registers a rail
 * cannot scan the gateway's network.
 */
const connectionFailed = 'connection failed, or the response was not signed; the log has the reason'

const whyNotGenuine: Record<Exclude<RailResponseVerdict, 'genuine'>, string> = {
  not_signed:
    'the response is not signed: send webhook-id, webhook-timestamp and webhook-signature, each once',
  wrong_id: 'the response is signed for another message: its webhook-id is not that of the message',
  outside_window: 'the response was signed more than 5 minutes before or after now: check the clocks',
  wrong_signature:
    'the signature of the response is wrong: check the secret and that the body is not changed',
}

export function makeRailClient({ post, clock, random, log }: RailClientParts): AskRail {
  return async (rail, message, parse) => {
    const { url, railId, lastFailure } = rail.rail
    const { secrets } = rail
    assert(url !== undefined, 'a rail that is asked has an address')
    const nowMs = clock.now()
    const callId = makeUuid(nowMs, random)
    const body = JSON.stringify(message)
    const signed = signWebhook({ id: callId, body }, { secrets, nowMs })
    // An unsigned message would be indistinguishable from a forgery.
    const delivery = secrets.length > 0 ? await post({ url, body, headers: { ...signed } }) : undefined
    const durationMs = delivery?.durationMs ?? 0
    const call = { callId, type: message.type, calledAtMs: nowMs, durationMs }
    const failed = ({ reason, httpStatus, isHidden = false }: WhyFailed) => {
      log.warn(
        { worker: 'ask-rails', railId, method: message.type, reason, httpStatus, durationMs },
        'a call to a rail failed',
      )
      const failure = isHidden ? connectionFailed : reason
      const shown = { httpStatus: isHidden ? undefined : httpStatus, detail: readable(failure) }
      return { kind: 'failed', failure, call: { ...call, ...shown, outcome: 'failed' } } as const
    }
    if (!delivery) return failed({ reason: lastFailure ?? 'it has no secret' })
    if (delivery.kind === 'unreachable')
      return failed({ reason: `${delivery.reason}: ${delivery.detail}`, isHidden: true })
    const { httpStatus, answer: bytes } = delivery
    const whyNot = whyNoResponse(delivery, { messageId: callId, secrets, nowMs: clock.now() })
    if (whyNot) return failed({ ...whyNot, httpStatus })
    try {
      const answer = parse(bytes.toString('utf8'))
      return {
        kind: 'answered',
        answer,
        call: { ...call, httpStatus, outcome: answer.status, detail: detailOf(answer) },
      }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return failed({ reason: `the response is not valid: ${error.message}`, httpStatus })
    }
  }
}

interface WhyFailed {
  readonly reason: string
  readonly httpStatus?: number | undefined
  /** For the log only. */
  readonly isHidden?: boolean
}

/** Undefined if the rail signed it for this message and its size is allowed. */
function whyNoResponse(
  { httpStatus, headers = {}, answer }: Awaited<ReturnType<RailPost>> & { readonly kind: 'answered' },
  context: ResponseContext,
): WhyFailed | undefined {
  const verdict = verifyRailResponse(headers, answer, context)
  const isHidden = verdict === 'not_signed'
  if (httpStatus !== 200)
    return { reason: `HTTP ${httpStatus} instead of 200`, isHidden: verdict !== 'genuine' }
  if (answer.length >= maxRailAnswerBytes)
    return { reason: `the response is larger than ${maxRailAnswerBytes - 1} bytes`, isHidden }
  return verdict === 'genuine' ? undefined : { reason: whyNotGenuine[verdict], isHidden }
}

/** Other fields of the response that are not a way to pay. */
function detailOf({ reason, reference }: AnyAnswer): string | undefined {
  const detail = reason ?? reference
  return detail === undefined ? undefined : readable(detail)
}

/** One short line without control characters. */
function readable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, maxDetailLength)
}
