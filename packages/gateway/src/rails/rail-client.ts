// Asks a rail: one signed message, one answer, within the bounds of the outbound client. Whatever is not an answer as the
// protocol has it is a failure of the rail, and nothing of it is believed.
import assert from 'node:assert/strict'
import { Failure, makeUuid, type RailMessage, type RandomBytes, signWebhook } from '@tillgate/protocol'
import type { Clock } from '../platform/clock.ts'
import type { KnownRail } from './rail-directory.ts'
import type { RailCall } from './rules/rail-task.ts'

/** Of an answer, as it is read and checked. */
export const maxRailAnswerBytes = 64 * 1024
export const railTimeoutMs = 10_000

/** The part of the outbound client that it needs. */
export type RailPost = (request: {
  readonly url: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}) => Promise<
  | {
      readonly kind: 'answered'
      readonly httpStatus: number
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

/** What every answer has or may have. */
interface AnyAnswer {
  readonly status: string
  readonly reason?: string
  readonly reference?: string
}

export type AskRail = <Answer extends AnyAnswer>(
  rail: KnownRail,
  message: RailMessage,
  parse: (text: string) => Answer,
) => Promise<RailReply<Answer>>

export interface RailClientParts {
  readonly post: RailPost
  readonly clock: Clock
  readonly random: RandomBytes
}

const maxDetailLength = 300

export function makeRailClient({ post, clock, random }: RailClientParts): AskRail {
  return async (rail, message, parse) => {
    const { url } = rail.rail
    assert(url !== undefined, 'a rail that is asked has an address')
    const nowMs = clock.now()
    const callId = makeUuid(nowMs, random)
    const body = JSON.stringify(message)
    const headers = signWebhook({ id: callId, body }, { secrets: rail.secrets, nowMs })
    // Nothing goes out that nobody could tell from a forgery.
    const delivery = rail.secrets.length > 0 ? await post({ url, body, headers: { ...headers } }) : undefined
    const durationMs = delivery?.durationMs ?? 0
    const call = { callId, type: message.type, calledAtMs: nowMs, durationMs }
    const failed = (failure: string, httpStatus?: number) => ({
      kind: 'failed' as const,
      failure,
      call: { ...call, httpStatus, outcome: 'failed', detail: readable(failure) },
    })
    if (!delivery) return failed(rail.rail.lastFailure ?? 'it has no secret')
    if (delivery.kind === 'unreachable') return failed(`${delivery.reason}: ${delivery.detail}`)
    const { httpStatus, answer: bytes } = delivery
    if (httpStatus !== 200) return failed(`answered HTTP ${httpStatus}, where 200 is right`, httpStatus)
    if (bytes.length >= maxRailAnswerBytes)
      return failed(`answered more than ${maxRailAnswerBytes - 1} bytes`, httpStatus)
    try {
      const answer = parse(bytes.toString('utf8'))
      return {
        kind: 'answered',
        answer,
        call: { ...call, httpStatus, outcome: answer.status, detail: detailOf(answer) },
      }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return failed(`answered what is no answer: ${error.message}`, httpStatus)
    }
  }
}

/** Of what the rail said beside its status, that which is no way to pay. */
function detailOf({ reason, reference }: AnyAnswer): string | undefined {
  const detail = reason ?? reference
  return detail === undefined ? undefined : readable(detail)
}

/** One short line, without control characters. */
function readable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, maxDetailLength)
}
