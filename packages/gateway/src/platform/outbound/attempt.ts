// One delivery attempt, from its first byte to its outcome. It uses the HTTP client's lowest interface, because at
// most 4 KiB of a response are kept and streams would be wasted.
import type { Dispatcher } from 'undici'
import type { Delivery, UnreachableReason } from '../runtime/delivery.ts'
import type { StartTimer } from '../runtime/timer.ts'
import { classify, OutboundFailure } from './failure.ts'
import { parseRetryAfter } from './retry-after.ts'

export interface AttemptSettings {
  readonly now: () => number
  readonly startTimer: StartTimer
  readonly attemptTimeoutMs: number
  readonly maxAnswerBytes: number
}

export function attempt(
  pool: Dispatcher,
  request: Dispatcher.DispatchOptions,
  settings: AttemptSettings,
): Promise<Delivery> {
  return new Promise((resolve, reject) => {
    pool.dispatch(request, new Attempt({ settings, resolve, reject }))
  })
}

export function unreachable(
  failure: OutboundFailure,
  durationMs: number,
): Extract<Delivery, { kind: 'unreachable' }> {
  return { kind: 'unreachable', reason: failure.reason, detail: failure.message, durationMs }
}

interface AttemptOptions {
  readonly settings: AttemptSettings
  readonly resolve: (delivery: Delivery) => void
  readonly reject: (error: unknown) => void
}

class Attempt implements Dispatcher.DispatchHandler {
  readonly #options: AttemptOptions
  readonly #startedAt: number
  readonly #cancelTimer: () => void
  #controller: Dispatcher.DispatchController | undefined
  #isSettled = false
  #httpStatus = 0
  #headers: Record<string, string | string[] | undefined> = {}
  #chunks: Buffer[] = []
  #answerBytes = 0

  constructor(options: AttemptOptions) {
    this.#options = options
    const { now, startTimer, attemptTimeoutMs } = options.settings
    this.#startedAt = now()
    this.#cancelTimer = startTimer(attemptTimeoutMs, () => this.#expire())
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The attempt timed out while it waited for a connection. Nothing was sent.
    if (this.#isSettled) controller.abort(new OutboundFailure('timeout', 'given up'))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    httpStatus: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (httpStatus < 200) return
    this.#httpStatus = httpStatus
    this.#headers = headers
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const kept = chunk.subarray(0, this.#options.settings.maxAnswerBytes - this.#answerBytes)
    // Copied, because the chunk is a view of a buffer of up to 64 KiB.
    this.#chunks.push(Buffer.from(kept))
    this.#answerBytes += kept.length
    if (this.#answerBytes < this.#options.settings.maxAnswerBytes) return
    this.#answered()
    controller.abort(new OutboundFailure('closed', 'enough has been read'))
  }

  onResponseEnd(): void {
    this.#answered()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isSettled) return
    try {
      const failure = classify(error)
      this.#unreachable(
        failure.reason,
        this.#httpStatus === 0 ? failure.message : this.#partly(failure.message),
      )
    } catch (mistake) {
      this.#settle()
      this.#options.reject(mistake)
    }
  }

  #expire(): void {
    const passed = `${this.#options.settings.attemptTimeoutMs} ms passed`
    if (!this.#controller) this.#unreachable('timeout', `${passed} while waiting for a connection`)
    else {
      const detail = this.#httpStatus === 0 ? `${passed} without an answer` : this.#partly(passed)
      this.#unreachable('timeout', detail, { wasSent: true })
    }
    this.#controller?.abort(new OutboundFailure('timeout', passed))
  }

  // An incomplete response acknowledges nothing: a repeated delivery is better than a lost one.
  #partly(what: string): string {
    return `${what} after HTTP ${this.#httpStatus} and ${this.#answerBytes} bytes of its answer`
  }

  #answered(): void {
    if (this.#isSettled) return
    this.#settle()
    const endedAt = this.#options.settings.now()
    const retryAfter = this.#headers['retry-after']
    const retryAfterMs = parseRetryAfter(Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, endedAt)
    const [first, second] = this.#chunks
    this.#options.resolve({
      kind: 'answered',
      httpStatus: this.#httpStatus,
      headers: this.#headers,
      answer: first && !second ? first : Buffer.concat(this.#chunks),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      durationMs: this.#durationMs(endedAt),
    })
  }

  #unreachable(reason: UnreachableReason, detail: string, more: { wasSent?: true } = {}): void {
    this.#settle()
    const durationMs = this.#durationMs(this.#options.settings.now())
    this.#options.resolve({ ...unreachable(new OutboundFailure(reason, detail), durationMs), ...more })
  }

  // Not negative, even if the clock was set back.
  #durationMs(endedAt: number): number {
    return Math.max(0, endedAt - this.#startedAt)
  }

  #settle(): void {
    this.#isSettled = true
    this.#cancelTimer()
  }
}
