// Emails operators about new breaks: one email for an import, however many accounts, pages and lines it has. A process
// that is killed between the last page and the email sends none; the breaks are in the console and in the metrics.
import { toDecimalText } from '@tillgate/protocol'
import type { MakeEmails } from '../../core/emails/make-emails.ts'
import type { EmailStore } from '../../core/emails/store/emails.ts'
import type { PassCounts } from './match-lines.ts'

export interface ReportBreaksParts {
  readonly emails: Pick<EmailStore, 'queue'>
  readonly makeEmails: MakeEmails
}

export type ReportBreaks = (accounts: Iterable<string>, counts: PassCounts) => Promise<void>

export function makeReportBreaks({ emails, makeEmails }: ReportBreaksParts): ReportBreaks {
  return async (accounts, { breaks, largest }) => {
    if (!largest) return
    await emails.queue(
      makeEmails('breaks-found', {
        parameters: {
          account: [...accounts].join(', '),
          count: String(breaks),
          largest: `${toDecimalText(largest.sizeMinor, largest.currency)} ${largest.currency}`,
        },
      }),
    )
  }
}
