// Operators' actions on emails: list them and retry failed ones.

import { Failure } from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { makeAuditEntry } from '../audit/audit-entries.ts'
import { type AnyContext, reading } from '../authority/context.ts'
import { giveUpAfterMs, isRetryable } from '../emails/rules/email.ts'
import type { EmailLog } from './store/email-log.ts'

export type ManageEmails = ReturnType<typeof makeManageEmails>

export function makeManageEmails(parts: ClockAndRandom & { readonly emailLog: EmailLog }) {
  const { emailLog, clock } = parts
  return {
    listEmails: reading(emailLog.list),

    async retryEmail(context: AnyContext, emailId: string, reason: string): Promise<void> {
      const email = await emailLog.find(emailId)
      if (!email) throw new Failure('not_found', { message: `Email ${emailId} does not exist.` })
      const nowMs = clock.now()
      const { merchantId } = email
      const isQueued =
        isRetryable(email) &&
        (await emailLog.retry(
          { emailId, nowMs, giveUpAtMs: nowMs + giveUpAfterMs },
          makeAuditEntry(parts, context, 'email.retry', emailId, { merchantId, reason }),
        ))
      if (isQueued) return
      throw new Failure('status_does_not_allow', {
        message:
          email.state === 'queued' || email.state === 'sent'
            ? 'Only rejected and failed emails can be resent.'
            : 'This email cannot be resent, because its link or address was erased. Create a new one.',
      })
    },
  }
}
