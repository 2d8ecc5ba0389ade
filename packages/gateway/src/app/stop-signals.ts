// SIGTERM and Ctrl-C: the first requests a stop, the second ends the process at once.

export interface StopSignals {
  /** SIGTERM from a supervisor waits for open connections; Ctrl-C does not. */
  readonly onStop: (options: { signal: NodeJS.Signals; isPatient: boolean }) => void
  readonly onSecond: () => void
}

/** Under npm, one Ctrl-C arrives twice: from the terminal and from npm. */
const sameSignalMs = 500

export function listenForStop({ onStop, onSecond }: StopSignals): void {
  let sinceMs: number | undefined
  const hear = (signal: NodeJS.Signals): void => {
    if (sinceMs === undefined) {
      sinceMs = performance.now()
      onStop({ signal, isPatient: signal === 'SIGTERM' })
    } else if (performance.now() - sinceMs >= sameSignalMs) {
      onSecond()
    }
  }
  process.on('SIGTERM', hear)
  process.on('SIGINT', hear)
}
