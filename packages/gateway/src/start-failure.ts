// Trouble that a person must mend before the gateway can run: printed as plain words, without a stack trace.

/** The exit codes of sysexits.h that we use, so that a supervisor can tell a typo from an outage. */
export const exitCodes = {
  internal: 70,
  unavailable: 69,
  cannotCreate: 73,
  configuration: 78,
  interrupted: 130,
} as const

export class StartFailure extends Error {
  override readonly name = 'StartFailure'
  readonly exitCode: number

  constructor(message: string, exitCode: number = exitCodes.unavailable, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}
