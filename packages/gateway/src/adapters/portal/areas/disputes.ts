// Payments that customers' banks took back: what is open until when, why, and the shop's response.
import { disputeIdPattern } from '@tillgate/protocol'
import type { Dispute } from '../../../finance/rails/disputes/rules/dispute.ts'
import type { ListedDispute } from '../../../finance/rails/disputes/store/disputes.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { fillText } from '../../kit/languages/words.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { emptyState, facts, number, table } from '../../kit/pages/tables.ts'
import type { Language } from '../languages.ts'
import { actLink, acts, card, moneyTabs, pages, tabs, time } from '../parts.ts'
import { type PortalPage, type PortalRoute, pathTo, type Visit } from '../portal.ts'

const perPage = 25

export const disputesArea: readonly PortalRoute[] = [
  { path: '/disputes', show: list },
  { path: '/disputes/:disputeId', show },
]

async function list(visit: Visit): Promise<PortalPage> {
  const { operations, context, query, language } = visit
  const { words, formats } = language
  const asked = query.get('before') ?? ''
  const before = disputeIdPattern.test(asked) ? asked : undefined
  const found = await operations.disputes.listDisputes(context, { before, limit: perPage + 1 })
  const shown = found.slice(0, perPage)
  return {
    title: words.tabs.disputes,
    area: 'money',
    docs: '/docs/portal',
    content: html`${tabs(visit, moneyTabs, 'disputes')}
${
  shown.length === 0
    ? emptyState('landmark', { heading: words.disputes.none, text: words.disputes.text })
    : html`<p>${words.disputes.text}</p>${table(
        words.tabs.disputes,
        [
          words.orders.orderNo,
          number(words.orders.amount),
          words.common.status,
          words.disputes.deadline,
          words.disputes.opened,
        ],
        shown.map((dispute) => [
          html`<a class="wrap" href="${pathTo('/disputes/:disputeId', { disputeId: dispute.disputeId })}"><bdi>${dispute.orderNo}</bdi></a>`,
          formats.money(dispute.amountMinor, dispute.currency),
          statusOf(dispute, language),
          deadlineOf(dispute, language),
          time(dispute.openedAtMs, language),
        ]),
        { isTall: true, isList: true },
      )}`
}
${pages(visit, { path: '/disputes', older: found.length > perPage ? shown.at(-1)?.disputeId : undefined })}`,
  }
}

const looks = { open: 'wait', won: 'good', lost: 'bad' } as const

export function statusOf({ status }: Dispute, { words }: Language): Html {
  return statusBadge(looks[status], words.disputes.statuses[status])
}

function deadlineOf({ status, respondByMs }: Dispute, language: Language): Content {
  return status === 'open' && respondByMs !== undefined ? time(respondByMs, language) : '—'
}

async function show(visit: Visit): Promise<PortalPage | undefined> {
  const { operations, context, language, params } = visit
  const { words, formats } = language
  const { disputeId = '' } = params
  const found = disputeIdPattern.test(disputeId)
    ? await operations.disputes.showDispute(context, { merchantId: context.merchantId, disputeId })
    : undefined
  if (!found) return undefined
  const { paymentId, orderNo, amountMinor, feeMinor, currency, openedAtMs, closedAtMs } = found
  return {
    title: fillText(words.disputes.dispute, { number: orderNo }),
    area: 'money',
    beside: answers(visit, found),
    content: html`<p class="figure">${formats.money(amountMinor, currency)} ${statusOf(found, language)}</p>
${isOpenElsewhere(found) && html`<p>${words.disputes.outside}</p>`}
${card(
  words.orders.details,
  facts([
    [words.orders.reason, words.disputes.reasons[found.reason]],
    [words.disputes.deadline, deadlineOf(found, language)],
    [
      words.orders.orderNo,
      html`<a href="${pathTo('/orders/:paymentId', { paymentId })}"><bdi class="wrap">${orderNo}</bdi></a>`,
    ],
    feeMinor > 0n && ([words.orders.fee, formats.money(feeMinor, currency)] as const),
    [words.disputes.opened, time(openedAtMs, language)],
    closedAtMs !== undefined && ([words.disputes.closed, time(closedAtMs, language)] as const),
  ]),
)}
${response(visit, found)}
<p><a class="button" href="${pathTo('/disputes')}">${words.common.back}</a></p>`,
  }
}

function isOpenElsewhere({ status, accepts, response: given }: Dispute): boolean {
  return status === 'open' && accepts.length === 0 && !given
}

function answers(
  visit: Visit,
  { disputeId, status, accepts, response: given }: ListedDispute,
): Html | undefined {
  if (status !== 'open' || given) return undefined
  return acts(
    accepts.includes('evidence') && actLink(visit, 'disputeEvidence', { disputeId }, { isPrimary: true }),
    accepts.includes('accept') && actLink(visit, 'acceptDispute', { disputeId }),
  )
}

function response({ language }: Visit, { response: given, passedOnAtMs, status }: Dispute): Html | undefined {
  if (!given) return undefined
  const { words } = language
  const { disputes } = words
  return card(
    disputes.response,
    facts([
      [given.kind === 'accept' ? disputes.accepted : disputes.evidence, time(given.givenAtMs, language)],
      given.kind === 'evidence' && [
        words.fields.statement,
        given.text === undefined
          ? disputes.deleted
          : html`<span class="wrap pre-line"><bdi>${given.text}</bdi></span>`,
      ],
      given.kind === 'evidence' && given.file && ([disputes.file, given.file.name] as const),
      passedOnAtMs !== undefined
        ? ([disputes.passedOn, time(passedOnAtMs, language)] as const)
        : status === 'open' && ([words.common.status, disputes.waiting] as const),
    ]),
  )
}
