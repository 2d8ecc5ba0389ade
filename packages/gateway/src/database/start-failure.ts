// A start that cannot go on, in words for the person who started it. The entry point prints the message
// without a stack and exits with the code.

// sysexits' EX_CONFIG: a setting must change first, so a supervisor need not try again
// (systemd: RestartPreventExitStatus=78).
export const exitCodeSettings = 78
export const exitCodeOther = 1

export class StartFailure extends Error {
  readonly exitCode: number

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'StartFailure'
    this.exitCode = options.exitCode ?? exitCodeOther
  }
}
