// SIGTERM and Ctrl-C: the first asks for a stop, the second does not wait for it.

export interface StopSignals {
  /** A supervisor's SIGTERM is patient with open connections; a person at the keyboard is not. */
  readonly onStop: (options: { signal: NodeJS.Signals; isPatient: boolean }) => void
  readonly onSecond: () => void
}

/** Under npm one Ctrl-C arrives twice: from the terminal, and passed on by npm. */
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
