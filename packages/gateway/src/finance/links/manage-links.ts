// Operators' actions on payment links, each recorded in the audit log.

import { Failure, type LinkState, type NewLink } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { Context } from '../../core/authority/context.ts'
import type { MerchantStore } from '../../core/merchants/store/merchants.ts'
import { bindWithin } from '../../core/merchants/within.ts'
import type { Order } from '../../core/orders/rules/order.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { linkUrl } from './answer-link.ts'
import { type CreateLinkParts, makeStoreLink } from './create-link.ts'
import { describeLink, type LinkKey, type LinkTotals, linkState, type PaymentLink } from './rules/link.ts'
import type { LinkChange, LinkPage, LinkStore, ListedLink } from './store/links.ts'

export interface ManageLinksParts extends ClockAndRandom {
  readonly stores: { readonly links: LinkStore; readonly merchants: Pick<MerchantStore, 'findMerchant'> }
  readonly placeOrder: CreateLinkParts['placeOrder']
  readonly publicUrl: string
}

export interface ShownLink {
  readonly link: PaymentLink
  readonly state: LinkState
  readonly linkUrl: string
  readonly totals: LinkTotals
  readonly orders: readonly Order[]
}

const changes = {
  pause: { from: ['active'], to: 'paused' },
  resume: { from: ['paused'], to: 'active' },
  close: { from: ['active', 'paused'], to: 'closed' },
} as const satisfies Record<string, LinkChange>

export type LinkVerb = keyof typeof changes

const ordersShown = 100
/** Limits the cost of a page's totals. */
export const totalledAtMost = 1_000

export type ManageLinks = ReturnType<typeof makeManageLinks>

type Parts = ManageLinksParts

export function makeManageLinks(parts: ManageLinksParts) {
  return bindWithin(parts, { listLinks, showLink, showOnPage, createLink, changeLink })
}

async function listLinks({ stores }: Parts, _context: Context, page: LinkPage): Promise<ListedLink[]> {
  return stores.links.listLinks(page)
}

/** Includes the totals of all payments. */
async function showLink(parts: Parts, _context: Context, key: LinkKey): Promise<ShownLink> {
  return show(parts, key)
}

/** Includes the totals of the newest `totalledAtMost` payments. */
async function showOnPage(parts: Parts, _context: Context, key: LinkKey): Promise<ShownLink> {
  return show(parts, key, totalledAtMost)
}

async function createLink(
  parts: Parts,
  context: Context,
  merchantId: string,
  given: NewLink,
  reason: string,
): Promise<ShownLink> {
  const { links, merchants } = parts.stores
  const found = await merchants.findMerchant(merchantId)
  if (!found) throw new Failure('not_found', { message: `Merchant ${merchantId} does not exist.` })
  const made = await makeStoreLink({ ...parts, links })(found.merchant, given, (link) =>
    makeAuditEntry(parts, context, 'link.create', link.linkId, {
      merchantId,
      reason: `${describeLink(link)}: ${reason}`,
      ...(link.callbackUrl === undefined && link.redirectUrl === undefined && { effects: [] }),
    }),
  )
  return show(parts, made)
}

async function changeLink(
  parts: Parts,
  context: Context,
  verb: LinkVerb,
  key: LinkKey,
  reason: string,
): Promise<ShownLink> {
  const { merchantId, linkId } = key
  const entry = makeAuditEntry(parts, context, `link.${verb}`, linkId, { merchantId, reason })
  const changed = await parts.stores.links.changeStatus(key, changes[verb], entry)
  const shown = await show(parts, key)
  if (changed || shown.link.status === changes[verb].to) return shown
  throw new Failure('status_does_not_allow', { message: `The link is ${shown.link.status}.` })
}

async function show(parts: Parts, key: LinkKey, atMost?: number): Promise<ShownLink> {
  const { stores, clock, publicUrl } = parts
  const link = await stores.links.findOfMerchant(key)
  if (!link) throw new Failure('not_found', { message: `Payment link ${key.linkId} does not exist.` })
  const totals = await stores.links.readTotals(link, atMost)
  return {
    link,
    state: linkState(link, { isPaid: totals.paidCount > 0, nowMs: clock.now() }),
    linkUrl: linkUrl(link, publicUrl),
    totals,
    orders: await stores.links.listOrders(link, ordersShown),
  }
}
