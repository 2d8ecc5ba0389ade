// What an operator does with payment links: made for a merchant, looked at, paused, resumed and closed, each action recorded
// with who did it and why.
import { Failure, type LinkState, type NewLink } from '@tillgate/protocol'
import { type AuditParts, makeAuditEntries } from '../../core/audit/audit-entries.ts'
import type { MerchantStore } from '../../core/merchants/store/merchants.ts'
import type { Order } from '../../core/orders/rules/order.ts'
import { linkUrl } from './answer-link.ts'
import type { StoreLink } from './create-link.ts'
import { describeLink, type LinkKey, type LinkTotals, linkState, type PaymentLink } from './rules/link.ts'
import type { LinkChange, LinkPage, LinkStore, ListedLink } from './store/links.ts'

export interface ManageLinksParts extends AuditParts {
  readonly links: LinkStore
  readonly merchants: Pick<MerchantStore, 'findMerchant'>
  readonly storeLink: StoreLink
  readonly publicUrl: string
}

export interface ShownLink {
  readonly link: PaymentLink
  readonly state: LinkState
  readonly linkUrl: string
  readonly totals: LinkTotals
  /** The newest first. */
  readonly orders: readonly Order[]
}

const changes = {
  pause: { from: ['active'], to: 'paused' },
  resume: { from: ['paused'], to: 'active' },
  close: { from: ['active', 'paused'], to: 'closed' },
} as const satisfies Record<string, LinkChange>

export type LinkVerb = keyof typeof changes

const ordersShown = 100
/** A page adds up no more payments than it may cost. */
export const totalledAtMost = 1_000

export type ManageLinks = ReturnType<typeof makeManageLinks>

export function makeManageLinks(parts: ManageLinksParts) {
  const { links, merchants, storeLink, clock, publicUrl } = parts
  const auditEntry = makeAuditEntries(parts)
  return {
    listLinks: (page: LinkPage): Promise<ListedLink[]> => links.listLinks(page),
    /** With totals of all its payments. */
    showLink: (key: LinkKey) => showLink(key),
    /** For a page: with totals of the newest `totalledAtMost`. */
    showOnPage: (key: LinkKey) => showLink(key, totalledAtMost),

    async createLink(merchantId: string, given: NewLink, reason: string): Promise<ShownLink> {
      const found = await merchants.findMerchant(merchantId)
      if (!found) throw new Failure('not_found', { message: `There is no merchant ${merchantId}.` })
      const made = await storeLink(found.merchant, given, (link) =>
        auditEntry('link.create', link.linkId, {
          merchantId,
          reason: `${describeLink(link)}: ${reason}`,
          ...(link.callbackUrl === undefined && { effects: [] }),
        }),
      )
      return showLink(made)
    },

    async changeLink(verb: LinkVerb, key: LinkKey, reason: string): Promise<ShownLink> {
      const { merchantId, linkId } = key
      const entry = auditEntry(`link.${verb}`, linkId, { merchantId, reason })
      const changed = await links.changeStatus(key, changes[verb], entry)
      const shown = await showLink(key)
      if (changed || shown.link.status === changes[verb].to) return shown
      throw new Failure('status_does_not_allow', { message: `The link is ${shown.link.status}.` })
    },
  }

  async function showLink(key: LinkKey, atMost?: number): Promise<ShownLink> {
    const link = await links.findOfMerchant(key)
    if (!link) throw new Failure('not_found', { message: `There is no payment link ${key.linkId}.` })
    const totals = await links.readTotals(link, atMost)
    return {
      link,
      state: linkState(link, { isPaid: totals.paidCount > 0, nowMs: clock.now() }),
      linkUrl: linkUrl(link, publicUrl),
      totals,
      orders: await links.listOrders(link, ordersShown),
    }
  }
}
