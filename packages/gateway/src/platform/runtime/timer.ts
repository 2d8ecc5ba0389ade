// Timeouts as a dependency, so that tests decide when time is up.

// Returns a function that cancels the timer.
export type StartTimer = (delayMs: number, expire: () => void) => () => void

export const startSystemTimer: StartTimer = (delayMs, expire) => {
  const timer = setTimeout(expire, delayMs)
  return () => clearTimeout(timer)
}

/** Monotonic time, finer than a clock. */
export interface MachineTime {
  readonly nowMs: () => number
  readonly startTimer: StartTimer
  /** Runs `go` after everything that currently waits. */
  readonly nextTurn: (go: () => void) => void
}

export const machineTime: MachineTime = {
  nowMs: () => performance.now(),
  startTimer: startSystemTimer,
  nextTurn: (go) => void setImmediate(go),
}
