// What an operator does with notices: looks at what became of them, and has one that failed sent again.

import { Failure } from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { makeAuditEntry } from '../audit/audit-entries.ts'
import { type AnyContext, reading } from '../audit/context.ts'
import { giveUpAfterMs, isRetryable } from '../emails/rules/notice.ts'
import type { NoticeLog } from './store/notice-log.ts'

export type ManageNotices = ReturnType<typeof makeManageNotices>

export function makeManageNotices(parts: ClockAndRandom & { readonly noticeLog: NoticeLog }) {
  const { noticeLog, clock } = parts
  return {
    listNotices: reading(noticeLog.list),

    async retryNotice(context: AnyContext, noticeId: string, reason: string): Promise<void> {
      const notice = await noticeLog.find(noticeId)
      if (!notice) throw new Failure('not_found', { message: `There is no notice ${noticeId}.` })
      const nowMs = clock.now()
      const { merchantId } = notice
      const isQueued =
        isRetryable(notice) &&
        (await noticeLog.retry(
          { noticeId, nowMs, giveUpAtMs: nowMs + giveUpAfterMs },
          makeAuditEntry(parts, context, 'notice.retry', noticeId, { merchantId, reason }),
        ))
      if (isQueued) return
      throw new Failure('status_does_not_allow', {
        message:
          notice.state === 'queued' || notice.state === 'sent'
            ? 'Only what was refused or given up is sent again.'
            : 'It cannot be sent again: its link, or the address that it was for, is wiped. Have a new one made.',
      })
    },
  }
}
