// A failed start with a message for the operator. The entry point prints it without a stack and exits with the code.

/**
 * Codes follow sysexits.h where possible. 78 means that a setting must change first, so a supervisor must not restart
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

/** The abort reason of a command's signal, reported like any other failure. */
export class Interruption extends StartFailure {
  readonly signal: NodeJS.Signals

  constructor(signal: NodeJS.Signals, outcome = 'What was committed stays; the rest was not done.') {
    const exitCode = signal === 'SIGTERM' ? exitCodes.terminated : exitCodes.interrupted
    super(`Stopped by ${signal}. ${outcome}`, { exitCode })
    this.name = 'Interruption'
    this.signal = signal
  }
}
