// The delay before an ended process is restarted: none at first, then longer after each early end, so that restarts do
// not keep the machine busy.

const delayMs = { first: 100, most: 10_000 } as const
/** A process that ran this long did not fail because of its start. */
export const steadyAfterMs = 60_000

export class RestartDelay {
  #failures = 0

  /** `ranMs` is how long the process ran. */
  next(ranMs: number): number {
    this.#failures = ranMs >= steadyAfterMs ? 1 : this.#failures + 1
    return Math.min(delayMs.first * 2 ** (this.#failures - 1), delayMs.most)
  }
}
