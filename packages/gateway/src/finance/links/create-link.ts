// service.link.create: creates a payment link, once per linkNo, for a merchant or an operator.
import {
  Failure,
  ignoring,
  type LinkAnswer,
  makeLinkId,
  type NewLink,
  parseLinkCreateBody,
  type RandomBytes,
} from '@tillgate/protocol'
import type { AuditEntry } from '../../core/audit/rules/audit.ts'
import type { Merchant } from '../../core/merchants/rules/merchant.ts'
import type { PlaceOrder } from '../../core/orders/place-order.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import { answerLink } from './answer-link.ts'
import { differingLinkField, makeLink, type PaymentLink, refusalOfExpiry } from './rules/link.ts'
import type { LinkStore } from './store/links.ts'

export interface CreateLinkParts {
  readonly links: Pick<LinkStore, 'insertLink' | 'findByNumber' | 'readTotals'>
  readonly placeOrder: Pick<PlaceOrder, 'refusalOfAddresses'>
  readonly publicUrl: string
  readonly clock: Clock
  readonly random: RandomBytes
}

/** Returns the stored link, which may be an earlier one. */
export function makeStoreLink({ links, placeOrder, clock, random }: CreateLinkParts) {
  return async (
    merchant: Merchant,
    given: NewLink,
    entryFor?: (link: PaymentLink) => AuditEntry,
  ): Promise<PaymentLink> => {
    const nowMs = clock.now()
    const link = makeLink(given, {
      merchantId: merchant.merchantId,
      linkId: makeLinkId(nowMs, random),
      nowMs,
    })
    const stored = await store(link, merchant, entryFor?.(link))
    const field = stored.linkId === link.linkId ? undefined : differingLinkField(stored, link)
    if (field === undefined) return stored
    throw new Failure('number_already_used', {
      field,
      message: `linkNo ${link.linkNo} was already used for a link with another ${field}. Repeat that link as it was, or use a new linkNo.`,
    })
  }

  /** A repeated request must get its link even if a new one would be rejected. */
  async function store(
    link: PaymentLink,
    merchant: Merchant,
    entry: AuditEntry | undefined,
  ): Promise<PaymentLink> {
    const addresses = { ...link, cancelUrl: undefined, channel: 'WEB' } as const
    const refusal = refusalOfExpiry(link) ?? (await placeOrder.refusalOfAddresses(addresses, merchant))
    if (!refusal) return links.insertLink(link, entry)
    const earlier = await links.findByNumber(link.merchantId, link.linkNo)
    if (!earlier) throw refusal
    return earlier
  }
}

export function makeCreateLink(parts: CreateLinkParts) {
  const storeLink = makeStoreLink(parts)
  return async (merchant: Merchant, body: string): Promise<LinkAnswer> => {
    const given = parseLinkCreateBody(body)
    const link = await storeLink(merchant, given)
    const totals = await parts.links.readTotals(link)
    const { publicUrl, clock } = parts
    return { ...answerLink(link, { totals, nowMs: clock.now(), publicUrl }), ...ignoring(given) }
  }
}
