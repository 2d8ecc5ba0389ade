// Timeouts as a part that is passed in, so that a test decides when time has run out and never waits for it.

// Answers how to cancel it.
export type StartTimer = (delayMs: number, expire: () => void) => () => void

export const startSystemTimer: StartTimer = (delayMs, expire) => {
  const timer = setTimeout(expire, delayMs)
  return () => clearTimeout(timer)
}

/** Time as the machine has it, finer than a clock and never set. */
export interface MachineTime {
  readonly nowMs: () => number
  readonly startTimer: StartTimer
  /** Once everything that waits now had its turn. */
  readonly nextTurn: (go: () => void) => void
}

export const machineTime: MachineTime = {
  nowMs: () => performance.now(),
  startTimer: startSystemTimer,
  nextTurn: (go) => void setImmediate(go),
}
