// Payment links: a page and a QR code at which consumers pay.
import type { LinkAnswer, LinkCreateBody, LinkQueryAnswer } from '@tillgate/protocol'
import { expectTexts } from './answers.ts'
import type { Caller } from './call.ts'
import type { CallOptions } from './options.ts'
import { serialise } from './serialise.ts'

/** Amounts are numbers or decimal strings, sent unchanged and never rounded. */
export type NewLink = LinkCreateBody

/** A link by its linkId, or by your linkNo if the response to create was lost. */
export type LinkReference = string | { readonly linkId: string } | { readonly linkNo: string }

export interface Links {
  /**
   * Creates a payment link; give `linkUrl` to consumers. The same `linkNo` with the same content returns the existing
   * link, so repeating is safe.
   *
   * @example
   * const { linkUrl } = await tillgate.links.create({
   *   linkNo: 'invoice-2026-17',
   *   title: 'Invoice 2026-17',
   *   currency: 'EUR',
   *   amount: '120.00',
   *   uses: 'once',
   *   callbackUrl: 'https://shop.example/callbacks',
   * })
   */
  create(link: NewLink, options?: CallOptions): Promise<LinkAnswer>

  /**
   * A link's current state: how many paid, how much, and its newest orders.
   *
   * @example
   * const { status, paidAmount, orders } = await tillgate.links.query(linkId)
   */
  query(link: LinkReference, options?: CallOptions): Promise<LinkQueryAnswer>

  /**
   * Closes a link permanently. A payment that has started can still be made until its own expiry.
   *
   * @example
   * await tillgate.links.close(linkId)
   */
  close(linkId: string, options?: CallOptions): Promise<LinkAnswer>
}

const known = ['linkId', 'linkUrl', 'status'] as const

export function makeLinks({ call }: Caller): Links {
  return {
    async create(link, options) {
      const data = await call('service.link.create', () => serialise(link), options)
      return expectTexts<LinkAnswer>(data, known)
    },
    async query(link, options) {
      const reference = typeof link === 'string' ? { linkId: link } : link
      const data = await call('service.link.query', () => serialise(reference), options)
      return expectTexts<LinkQueryAnswer>(data, known)
    },
    async close(linkId, options) {
      const data = await call('service.link.close', () => serialise({ linkId }), options)
      return expectTexts<LinkAnswer>(data, known)
    },
  }
}
