// A start that cannot go on, in words for the person who started it. The entry point prints the message without
// a stack and exits with the code.

/**
 * From sysexits.h where it has one. 78 says that a setting must change first, so a supervisor need not try again
 * (systemd: RestartPreventExitStatus=78).
 */
export const exitCodes = {
  other: 1,
  unavailable: 69,
  cannotCreate: 73,
  settings: 78,
  interrupted: 130,
  terminated: 143,
} as const

export class StartFailure extends Error {
  readonly exitCode: number

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'StartFailure'
    this.exitCode = options.exitCode ?? exitCodes.other
  }
}

/** Why a command's signal was aborted: thrown by whatever waits or looks at it, and told like any other end. */
export class Interruption extends StartFailure {
  readonly signal: NodeJS.Signals

  constructor(signal: NodeJS.Signals, outcome = 'What was committed stays; the rest was not done.') {
    const exitCode = signal === 'SIGTERM' ? exitCodes.terminated : exitCodes.interrupted
    super(`Stopped by ${signal}. ${outcome}`, { exitCode })
    this.name = 'Interruption'
    this.signal = signal
  }
}
