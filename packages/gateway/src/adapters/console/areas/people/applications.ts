// Applications for live keys: the list, and one application.
import { uuidPattern } from '@tillgate/protocol'
import { html } from '../../../kit/html.ts'
import { facts, pages, table } from '../../../kit/pages/tables.ts'
import { actionForms } from '../../action-forms.ts'
import { type ConsolePage, type ConsoleRoute, orNothing, type Visit } from '../../console.ts'
import { status } from '../../statuses.ts'
import { ago, moment } from '../../words.ts'

const path = '/applications'
const perPage = 50

export const applicationsArea: readonly ConsoleRoute[] = [
  { path, show: list },
  { path: `${path}/:applicationId`, show },
]

async function list({ operations, context, query, nowMs }: Visit): Promise<ConsolePage> {
  const before = query.get('before') ?? ''
  const found = await operations.applications.listApplications(
    context,
    {},
    { limit: perPage + 1, before: uuidPattern.test(before) ? before : undefined },
  )
  const shown = found.slice(0, perPage)
  const older = found.length > perPage ? shown.at(-1)?.applicationId : undefined
  return {
    title: 'Applications',
    area: 'applications',
    content: html`${table(
      'Applications, newest first',
      ['Business', 'Status', 'Contact', 'Website', 'Received'],
      shown.map((each) => [
        html`<a href="${path}/${each.applicationId}">${each.business}</a>`,
        status(each.status),
        `${each.contact}, ${each.email}`,
        each.website,
        ago(each.createdAtMs, nowMs),
      ]),
      {
        isTall: true,
        none: 'No applications yet. With APPLICATIONS=on, merchants apply at /merchant/apply.',
      },
    )}${pages(path, query, { older })}`,
  }
}

async function show(visit: Visit): Promise<ConsolePage | undefined> {
  const { operations, context, params, nowMs } = visit
  const { applicationId = '' } = params
  const found = await orNothing(operations.applications.findApplication(context, applicationId))
  if (!found) return undefined
  const { merchantId } = found
  return {
    title: found.business,
    area: 'applications',
    content: html`<p>${status(found.status)}</p>
${actionForms(visit, 'application', { subject: found, values: { applicationId } })}
${facts([
  ['Contact', found.contact],
  ['Email', found.email],
  [
    'Website',
    html`<a href="${found.website}" rel="noreferrer noopener" target="_blank">${found.website}</a>`,
  ],
  ['Products', html`<span class="wrap">${found.about}</span>`],
  ['Callback hosts', found.callbackHosts?.join(', ') ?? 'Any'],
  ['Received', moment(found.createdAtMs, nowMs)],
  found.question !== undefined && ['Question', html`<span class="wrap">${found.question}</span>`],
  found.answer !== undefined && ['Answer', html`<span class="wrap">${found.answer}</span>`],
  found.decidedBy !== undefined && ['Decided by', found.decidedBy],
  found.reason !== undefined && ['Reason', found.reason],
  merchantId !== undefined && [
    'Merchant',
    html`<a href="/merchants/${merchantId}"><code>${merchantId}</code></a>`,
  ],
])}
<h2>Public key</h2><pre tabindex="0">${found.publicKey.trim()}</pre>`,
  }
}
