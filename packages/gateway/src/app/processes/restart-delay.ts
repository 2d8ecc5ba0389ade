// How long to wait before a process that ended is started again: at once the first time, longer each time that it ends
// soon after, so that a machine is not kept busy with starting.

const delayMs = { first: 100, most: 10_000 } as const
/** Who ran so long did not end because of how it started. */
export const steadyAfterMs = 60_000

export class RestartDelay {
  #failures = 0

  /** For one that ran so long before it ended. */
  next(ranMs: number): number {
    this.#failures = ranMs >= steadyAfterMs ? 1 : this.#failures + 1
    return Math.min(delayMs.first * 2 ** (this.#failures - 1), delayMs.most)
  }
}
