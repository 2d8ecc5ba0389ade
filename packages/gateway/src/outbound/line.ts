// The connections to one origin and the line of attempts that wait for one. The line is ours, not the HTTP
// client's: that one opens a connection even for an attempt whose time ran out while it waited.
import assert from 'node:assert/strict'
import type { Dispatcher, Pool } from 'undici'

export interface Waiting {
  // Its turn has come. It must call `exit` once it no longer needs its connection.
  start(): void
}

export class Line {
  readonly #pool: Pool
  readonly #places: number
  // A set keeps the order of arrival, and lets those whose time ran out leave from the middle.
  readonly #waiting = new Set<Waiting>()
  readonly #closed = Promise.withResolvers<void>()
  #inFlight = 0
  #isClosing = false

  constructor(pool: Pool, places: number) {
    this.#pool = pool
    this.#places = places
  }

  enter(attempt: Waiting): void {
    if (this.#inFlight >= this.#places) {
      this.#waiting.add(attempt)
      return
    }
    this.#inFlight++
    attempt.start()
  }

  leave(attempt: Waiting): void {
    this.#waiting.delete(attempt)
    this.#closeWhenEmpty()
  }

  exit(): void {
    assert(this.#inFlight > 0, 'an attempt leaves its place once')
    for (const next of this.#waiting) {
      this.#waiting.delete(next)
      // The place is handed on, but not from inside a callback of the HTTP client.
      queueMicrotask(() => next.start())
      return
    }
    this.#inFlight--
    this.#closeWhenEmpty()
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#pool.dispatch(request, handler)
  }

  // Whoever stands in the line is still served; each is bounded by its own timeout.
  close(): Promise<void> {
    this.#isClosing = true
    this.#closeWhenEmpty()
    return this.#closed.promise
  }

  #closeWhenEmpty(): void {
    if (!this.#isClosing || this.#inFlight > 0 || this.#waiting.size > 0) return
    this.#pool.close().then(this.#closed.resolve, this.#closed.reject)
  }
}
