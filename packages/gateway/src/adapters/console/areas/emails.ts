// Emails: recipients, delivery status, and resending what failed.

import { type Email, type EmailState, emailStates } from '../../../core/emails/rules/email.ts'
import { type Content, html } from '../../kit/html.ts'
import { type Look, statusBadge } from '../../kit/pages/status.ts'
import { empty, noneFits, pages, table } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { savedViews } from '../views.ts'
import { ago, until } from '../words.ts'

export const emailsPath = '/emails'
const perPage = 50

export const emailsArea: readonly ConsoleRoute[] = [{ path: emailsPath, show }]

const stateWords = {
  queued: ['wait', 'Waiting'],
  sent: ['good', 'Sent'],
  refused: ['bad', 'Rejected'],
  given_up: ['bad', 'Failed'],
} as const satisfies Record<EmailState, readonly [Look, string]>

async function show(visit: Visit): Promise<ConsolePage> {
  const { query, operations, context } = visit
  const wanted = emailStates.find((each) => each === query.get('state'))
  const found = await operations.emails.listEmails(
    context,
    { state: wanted },
    { limit: perPage + 1, before: beforeOf(query.get('before')) },
  )
  const shown = found.slice(0, perPage)
  return {
    title: 'Emails',
    area: 'system',
    content: html`<p>Emails to members, operators and consumers. The gateway keeps them for 30 days.</p>
<form class="filters" action="${emailsPath}"><label>Status<select name="state"><option value="">Any</option>${emailStates.map(
      (each) =>
        html`<option value="${each}"${each === wanted && html` selected`}>${stateWords[each][1]}</option>`,
    )}</select></label><button>Filter</button></form>${savedViews(visit, emailsPath)}
${
  shown.length === 0
    ? empty(
        wanted
          ? noneFits('email', emailsPath)
          : html`No emails yet. The gateway sends email when <code>SMTP_URL</code> is set.`,
      )
    : html`${table(
        'Emails, newest first',
        ['Created', 'Type', 'Recipient', 'Status', 'Last error', 'Actions'],
        shown.map((email) => row(visit, email)),
        { isTall: true },
      )}
${pages(emailsPath, query, { older: found.length > perPage ? shown.at(-1)?.emailId : undefined })}`
}`,
  }
}

function row(visit: Visit, email: Email): Content[] {
  const { nowMs } = visit
  const [look, word] = stateWords[email.state]
  const { merchantId, recipient, dueAtMs, attempts, lastError } = email
  return [
    ago(email.createdAtMs, nowMs),
    email.kind,
    html`${recipient ?? '—'}${merchantId !== undefined && html` <a class="quiet" href="/merchants/${merchantId}">merchant</a>`}`,
    html`${statusBadge(look, word)}${
      dueAtMs !== undefined &&
      attempts > 0 &&
      html` <span class="quiet">attempt ${attempts}, next in ${until(dueAtMs, nowMs)}</span>`
    }`,
    html`<span class="wrap">${lastError ?? '—'}</span>`,
    actionForms(visit, 'email', { subject: email, values: { emailId: email.emailId } }),
  ]
}

function beforeOf(written: string | null): string | undefined {
  return written !== null && /^[0-9a-f-]{36}$/.test(written) ? written : undefined
}
