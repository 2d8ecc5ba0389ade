// Carries out an action that may be sent twice, once: also when the database's answer is lost, or two send it at the same
// moment. Whether it was done is found out by reading, never guessed.
import { Failure } from '@tillgate/protocol'
import type { AuditEntry } from './rules/audit.ts'

/** The id of an action that may be sent twice. */
export interface Once {
  readonly actId?: string | undefined
}

export interface CarryingOut<Refusal extends string> {
  readonly isRecorded: (entry: AuditEntry) => Promise<boolean>
  /** `unknown`: the answer to COMMIT was lost. Anything but these two says why nothing was done. */
  readonly attempt: () => Promise<'done' | 'unknown' | Refusal>
}

const maxTries = 5

/** `done`, or why not. */
export async function carryOutOnce<Refusal extends string>(
  entry: AuditEntry,
  { actId }: Once,
  { isRecorded, attempt }: CarryingOut<Refusal>,
): Promise<'done' | Refusal> {
  // Whose action may have been carried out already: by an answer that was lost, or by a form that was sent twice.
  let isRepeated = actId !== undefined || entry.approval !== undefined
  for (let tries = 0; tries < maxTries; tries++) {
    if (isRepeated && (await isRecorded(entry))) return 'done'
    const outcome = await attempt().catch((error: unknown) => {
      // The other one came in between, and its entry is there now; or nobody knows.
      if (!isRepeated || error instanceof Failure) throw error
      return 'unknown' as const
    })
    if (outcome === 'done') return outcome
    // The other one may have been first, and taken the money that is missing now.
    if (outcome !== 'unknown') return isRepeated && (await isRecorded(entry)) ? 'done' : outcome
    isRepeated = true
  }
  throw new Failure('unavailable', {
    retryAfterSeconds: 1,
    message: `It is not known whether this was done. Look for ${entry.auditId} in the audit before you do it again.`,
  })
}
