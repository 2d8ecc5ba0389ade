// Runs an action with an idempotency key once, even if a response is lost or two requests arrive together. Whether it
// ran is read from the audit log, never guessed.
import { Failure } from '@tillgate/protocol'
import type { AuditEntry } from './rules/audit.ts'

export interface Once {
  readonly idempotencyKey?: string | undefined
}

export interface CarryingOut<Refusal extends string> {
  readonly isRecorded: (entry: AuditEntry) => Promise<boolean>
  /** `unknown`: the response to COMMIT was lost. A refusal explains why nothing was done. */
  readonly attempt: () => Promise<'done' | 'unknown' | Refusal>
}

const maxTries = 5

export async function carryOutOnce<Refusal extends string>(
  entry: AuditEntry,
  { idempotencyKey }: Once,
  { isRecorded, attempt }: CarryingOut<Refusal>,
): Promise<'done' | Refusal> {
  // A lost response or a form sent twice may have run this action already.
  let isRepeated = idempotencyKey !== undefined || entry.approval !== undefined
  for (let tries = 0; tries < maxTries; tries++) {
    if (isRepeated && (await isRecorded(entry))) return 'done'
    const outcome = await attempt().catch((error: unknown) => {
      // A concurrent request may have committed; its entry shows that.
      if (!isRepeated || error instanceof Failure) throw error
      return 'unknown' as const
    })
    if (outcome === 'done') return outcome
    // A concurrent request may have run first and used the money that is now missing.
    if (outcome !== 'unknown') return isRepeated && (await isRecorded(entry)) ? 'done' : outcome
    isRepeated = true
  }
  throw new Failure('unavailable', {
    retryAfterSeconds: 1,
    message: `The result is unknown. Search the audit log for ${entry.auditId} before you repeat the action.`,
  })
}
