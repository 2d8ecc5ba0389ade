// Disputes of all merchants: open ones by their deadline, or all, newest first.
import { disputeIdPattern } from '@tillgate/protocol'
import type { ListedDispute } from '../../../../finance/rails/disputes/store/disputes.ts'
import { type Content, html } from '../../../kit/html.ts'
import { statusBadge } from '../../../kit/pages/status.ts'
import { number, pages, segments, table, urlWith } from '../../../kit/pages/tables.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../../console.ts'
import { ago, amount, moment } from '../../words.ts'
import { moneyTabs } from './money.ts'

export const disputesPath = '/disputes'
const perPage = 50

export const disputesArea: readonly ConsoleRoute[] = [{ path: disputesPath, show }]

async function show({ operations, context, query, nowMs }: Visit): Promise<ConsolePage> {
  const isAll = query.get('state') === 'all'
  const asked = query.get('before') ?? ''
  const found = await operations.disputes.listDisputes(context, {
    ...(!isAll && { isOpen: true, isByDeadline: true }),
    before: disputeIdPattern.test(asked) ? asked : undefined,
    limit: perPage + 1,
  })
  const shown = found.slice(0, perPage)
  return {
    title: 'Disputes',
    area: 'money',
    content: html`${moneyTabs(disputesPath)}
<p>A disputed amount is withheld from the merchant’s balance until the dispute ends. If the balance is too low, you lend the merchant the difference. The merchant’s next payments repay it.</p>
<div class="acts">${segments(
      'State',
      isAll ? 'all' : 'open',
      [
        ['open', 'Open'],
        ['all', 'All'],
      ].map(([value = '', label = '']) => [
        value,
        label,
        urlWith(disputesPath, new URLSearchParams(), { state: value === 'all' ? value : undefined }),
      ]),
    )}</div>
${table(
  isAll ? 'Disputes, newest first' : 'Open disputes, by deadline',
  ['Order', 'Merchant', 'Status', number('Amount'), 'Reason', 'Rail', 'Opened', 'Respond by', 'Response'],
  shown.map((dispute) => [
    html`<a href="/orders/${dispute.merchantId}/${dispute.paymentId}">${dispute.orderNo}</a>`,
    html`<a href="/merchants/${dispute.merchantId}">${dispute.merchantId}</a>`,
    statusBadge(looks[dispute.status], words[dispute.status]),
    html`${amount(dispute.amountMinor, dispute.currency)}${dispute.feeMinor > 0n && html`<br><small class="quiet">fee ${amount(dispute.feeMinor, dispute.currency)}</small>`}`,
    reasons[dispute.reason],
    html`<a href="/rails/${dispute.railId}">${dispute.railId}</a>`,
    ago(dispute.openedAtMs, nowMs),
    dispute.status === 'open' ? moment(dispute.respondByMs, nowMs) : '—',
    responseOf(dispute),
  ]),
  { isTall: true, none: isAll ? 'No disputes.' : 'No open disputes.' },
)}
${pages(disputesPath, query, { older: isAll && found.length > perPage ? shown.at(-1)?.disputeId : undefined })}`,
  }
}

const looks = { open: 'wait', won: 'good', lost: 'bad' } as const
const words = { open: 'Open', won: 'Won', lost: 'Lost' } as const
const reasons = {
  fraudulent: 'Not recognized',
  not_received: 'Not received',
  not_as_described: 'Not as described',
  duplicate: 'Charged twice',
  cancelled: 'Cancelled or not refunded',
  other: 'Other',
} as const

function responseOf({ response, passedOnAtMs, accepts, status }: ListedDispute): Content {
  if (response) {
    const what = response.kind === 'accept' ? 'Accepted' : 'Evidence'
    return passedOnAtMs === undefined ? `${what}, being sent` : what
  }
  if (status !== 'open') return '—'
  return accepts.length === 0 ? 'At the provider' : 'None yet'
}
