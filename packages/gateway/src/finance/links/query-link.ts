// service.link.query and service.link.close.
import {
  Failure,
  ignoring,
  type LinkAnswer,
  type LinkQueryAnswer,
  maxListedLinkOrders,
  parseLinkCloseBody,
  parseLinkQueryBody,
} from '@tillgate/protocol'
import type { Merchant } from '../../core/merchants/rules/merchant.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import { answerLink, answerOrder } from './answer-link.ts'
import type { LinkStore } from './store/links.ts'

export interface QueryLinkParts {
  readonly links: LinkStore
  readonly publicUrl: string
  readonly clock: Clock
}

export function makeQueryLink({ links, publicUrl, clock }: QueryLinkParts) {
  return async ({ merchantId }: Merchant, body: string): Promise<LinkQueryAnswer> => {
    const asked = parseLinkQueryBody(body)
    const link =
      asked.linkId === undefined
        ? await links.findByNumber(merchantId, asked.linkNo)
        : await links.findOfMerchant({ merchantId, linkId: asked.linkId })
    if (!link) throw noLink()
    const totals = await links.readTotals(link)
    const orders = await links.listOrders(link, maxListedLinkOrders)
    return {
      ...answerLink(link, { totals, nowMs: clock.now(), publicUrl }),
      orders: orders.map(answerOrder),
      ...ignoring(asked),
    }
  }
}

export function makeCloseLink({ links, publicUrl, clock }: QueryLinkParts) {
  return async ({ merchantId }: Merchant, body: string): Promise<LinkAnswer> => {
    const asked = parseLinkCloseBody(body)
    const key = { merchantId, linkId: asked.linkId }
    const link =
      (await links.changeStatus(key, { from: ['active', 'paused'], to: 'closed' })) ??
      (await links.findOfMerchant(key))
    if (!link) throw noLink()
    const totals = await links.readTotals(link)
    return { ...answerLink(link, { totals, nowMs: clock.now(), publicUrl }), ...ignoring(asked) }
  }
}

function noLink(): Failure {
  return new Failure('order_not_found', { message: 'The payment link does not exist.' })
}
