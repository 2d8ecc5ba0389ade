// Emails: to whom, what became of them, and the one way on for those that failed.

import { type Email, type EmailState, emailStates } from '../../../core/emails/rules/email.ts'
import { type Content, html } from '../../kit/html.ts'
import { type Look, statusBadge } from '../../kit/pages/status.ts'
import { empty, noneFits, pages, table } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { ago, until } from '../words.ts'

export const emailsPath = '/emails'
const perPage = 50

export const emailsArea: readonly ConsoleRoute[] = [{ path: emailsPath, show }]

const stateWords = {
  queued: ['wait', 'waiting'],
  sent: ['good', 'sent'],
  refused: ['bad', 'refused'],
  given_up: ['bad', 'given up'],
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
    content: html`<p>What people are told by mail. Ended emails are kept for 30 days.</p>
<form class="filters" action="${emailsPath}"><label>State<select name="state"><option value="">All</option>${emailStates.map(
      (each) =>
        html`<option value="${each}"${each === wanted && html` selected`}>${stateWords[each][1]}</option>`,
    )}</select></label><button>Show</button></form>
${
  shown.length === 0
    ? empty(
        wanted ? noneFits('email', emailsPath) : 'Nothing was told yet. Without SMTP_URL no mail is sent.',
      )
    : html`${table(
        'Emails, the newest first',
        ['When', 'Kind', 'To', 'State', 'What was said', 'Act'],
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
      html` <span class="quiet">attempt ${attempts}, the next in ${until(dueAtMs, nowMs)}</span>`
    }`,
    html`<span class="wrap">${lastError ?? '—'}</span>`,
    actionForms(visit, 'email', { subject: email, values: { emailId: email.emailId } }),
  ]
}

function beforeOf(written: string | null): string | undefined {
  return written !== null && /^[0-9a-f-]{36}$/.test(written) ? written : undefined
}
