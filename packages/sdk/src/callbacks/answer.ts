// What to answer to a callback, whatever framework received it: 200 once it is handled, 500 when the handler threw
// so that the gateway sends it again, 400 for what is not the gateway's.
import { callbackAcknowledgement, failures } from '@tillgate/protocol'
import { CallbackVerificationError } from '../errors.ts'
import type { CallbackEvent } from './event.ts'
import type { SeenCallbacks } from './stale.ts'
import type { RawBody } from './unwrap.ts'

/** The gateway waits 15 seconds for it: do slow work after it has resolved. */
export type CallbackListener = (event: CallbackEvent) => unknown

export interface HandlerOptions {
  /** Told of what was refused or not handled. One line on standard error when left out. */
  readonly onError?: (error: unknown, event?: CallbackEvent) => void
  /** Callbacks whose id it has are acknowledged without being handled again. None when left out. */
  readonly seen?: SeenCallbacks
  /** Refuses callbacks whose attempt was made longer ago. Any age when left out. */
  readonly maxAgeMs?: number
}

export interface CallbackAnswer {
  /** 200 where the callback is taken. */
  readonly httpStatus: number
  /** JSON. */
  readonly body: string
}

export type AnswerCallback = (rawBody: RawBody) => Promise<CallbackAnswer>

export interface AnswerParts extends HandlerOptions {
  readonly unwrap: (rawBody: RawBody) => Promise<CallbackEvent>
  readonly listener: CallbackListener
}

const acknowledged: CallbackAnswer = { httpStatus: 200, body: JSON.stringify(callbackAcknowledgement) }
export const notAccepted = failureAnswer(400, failures.envelope_not_opened.code, 'This is not a callback.')
export const tooLarge = failureAnswer(413, failures.too_large.code, 'This is too large for a callback.')
export const notPost = failureAnswer(405, failures.no_such_operation.code, 'Callbacks come by POST.')
const notHandled = failureAnswer(
  500,
  failures.internal.code,
  'The callback could not be handled: send it again.',
)

export function makeAnswer({ unwrap, listener, seen, onError = writeError }: AnswerParts): AnswerCallback {
  // Two attempts at the same moment share one handling, at least within this process.
  const underWay = new Map<string, Promise<CallbackAnswer>>()

  /** An onError that throws must not keep the answer back, nor take the process down. */
  function report(error: unknown, event?: CallbackEvent): void {
    try {
      onError(error, event)
    } catch (another) {
      writeError(error, event)
      writeError(another, event)
    }
  }

  async function handle(event: CallbackEvent): Promise<CallbackAnswer> {
    try {
      if (await seen?.has(event.id)) return acknowledged
      await listener(event)
      await seen?.add(event.id)
      return acknowledged
    } catch (error) {
      report(error, event)
      return notHandled
    }
  }

  /** Taken out when it is over, by whoever put it in: also a `seen` that throws at once leaves nothing behind. */
  function share(event: CallbackEvent): Promise<CallbackAnswer> {
    const other = underWay.get(event.id)
    if (other) return other
    const handling = handle(event).finally(() => underWay.delete(event.id))
    underWay.set(event.id, handling)
    return handling
  }

  return async (rawBody) => {
    let event: CallbackEvent
    try {
      event = await unwrap(rawBody)
    } catch (error) {
      report(error)
      // What is genuine and unreadable must come again, when a newer version can read it.
      const isRefused = error instanceof CallbackVerificationError && error.reason !== 'unreadable_result'
      return isRefused ? notAccepted : notHandled
    }
    return share(event)
  }
}

function failureAnswer(httpStatus: number, code: number, msg: string): CallbackAnswer {
  return { httpStatus, body: JSON.stringify({ code, msg }) }
}

function writeError(error: unknown, event?: CallbackEvent): void {
  const what = event === undefined ? 'A callback was refused' : `Callback ${event.id} was not handled`
  const why =
    error instanceof CallbackVerificationError ? error.message : String((error as Error)?.stack ?? error)
  process.stderr.write(`${what}: ${why}\n`)
}
