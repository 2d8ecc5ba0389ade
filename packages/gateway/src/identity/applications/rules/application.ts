// An application for live keys: its required fields, and what may be done while it waits.
import { Failure } from '@tillgate/protocol'

export const applicationStatuses = ['waiting', 'asked', 'approved', 'rejected'] as const
export type ApplicationStatus = (typeof applicationStatuses)[number]

export interface Application {
  readonly applicationId: string
  readonly status: ApplicationStatus
  /** As shown to consumers. */
  readonly business: string
  readonly contact: string
  readonly email: string
  readonly website: string
  readonly about: string
  readonly callbackHosts: readonly string[] | undefined
  /** In PEM form. */
  readonly publicKey: string
  readonly question: string | undefined
  readonly answer: string | undefined
  readonly decidedBy: string | undefined
  readonly reason: string | undefined
  /** Set when approved. */
  readonly merchantId: string | undefined
  readonly createdAtMs: number
  readonly changedAtMs: number
}

/** A limit on waiting applications, so that strangers cannot fill the table. */
export const maxWaiting = 1_000
export const applicationLimits = { line: 128, website: 512, about: 1_000, answer: 2_000 } as const

/** Throws if the application was decided. */
export function checkOpen({ status }: Application): void {
  if (status === 'waiting' || status === 'asked') return
  throw new Failure('status_does_not_allow', { message: `The application was already ${status}.` })
}
