// The response to a callback, independent of the framework: 200 after it was handled, 500 if the handler threw, so that
// the gateway retries, and 400 for anything that is not the gateway's.
import { callbackAcknowledgement, failures } from '@tillgate/protocol'
import { CallbackVerificationError } from '../errors.ts'
import type { CallbackEvent } from './event.ts'
import type { SeenCallbacks } from './stale.ts'
import type { RawBody } from './unwrap.ts'

/** The gateway waits 15 seconds for it. Do slow work after it has resolved. */
export type CallbackListener = (event: CallbackEvent) => unknown

export interface HandlerOptions {
  /** Called for every rejected or failed callback. By default, one line is written to standard error. */
  readonly onError?: (error: unknown, event?: CallbackEvent) => void
  /** Callbacks with a known id are acknowledged without being handled again. None by default. */
  readonly seen?: SeenCallbacks
  /** Rejects callbacks whose attempt is older. Any age by default. */
  readonly maxAgeMs?: number
}

export interface CallbackAnswer {
  /** 200 if the callback is accepted. */
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
  // Two simultaneous attempts share one handling within this process.
  const underWay = new Map<string, Promise<CallbackAnswer>>()

  /** An onError that throws must not block the response or end the process. */
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

  /** The entry is removed by its creator, also if `seen` throws at once. */
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
      // A genuine callback that this version cannot read must be sent again for a newer version.
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
