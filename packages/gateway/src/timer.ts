// Timeouts as a part that is passed in, so that a test decides when time has run out and never waits for it.

// Answers how to cancel it.
export type StartTimer = (delayMs: number, expire: () => void) => () => void

export const startSystemTimer: StartTimer = (delayMs, expire) => {
  const timer = setTimeout(expire, delayMs)
  return () => clearTimeout(timer)
}
