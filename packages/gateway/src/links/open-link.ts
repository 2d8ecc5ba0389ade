// A consumer at a payment link: what the page shows, and the order that pressing the button makes. A link for one payment
// has one live order at a time, whoever presses: its number is the next one after the last that ended unpaid, so that any
// number of people who press at once make, and find, the same order.
import {
  Failure,
  type LinkState,
  linkIdPattern,
  makeCallbackId,
  makePaymentId,
  type RandomBytes,
} from '@tillgate/protocol'
import type { MerchantDirectory } from '../merchants/merchant-directory.ts'
import type { Merchant } from '../merchants/rules/merchant.ts'
import type { CurrentOrder } from '../orders/current-order.ts'
import type { PlaceOrder } from '../orders/place-order.ts'
import { checkoutUrl } from '../orders/rules/checkout-url.ts'
import { makeOrder, type Order } from '../orders/rules/order.ts'
import { cancelOrder } from '../orders/rules/status-change.ts'
import type { OrderStore } from '../orders/store/orders.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tokens } from '../platform/tokens.ts'
import { boundBroken, linkState, orderNoOf, orderOfLink, type PaymentLink, standingOf } from './rules/link.ts'
import type { LinkStore } from './store/links.ts'

export interface OpenLinkParts {
  readonly links: LinkStore
  readonly orders: Pick<OrderStore, 'findOrderByNumber' | 'commitStatusChanges'>
  readonly currentOrder: CurrentOrder
  readonly placeOrder: PlaceOrder
  readonly directory: Pick<MerchantDirectory, 'remembered' | 'load'>
  readonly linkTokens: Tokens
  readonly clock: Clock
  readonly random: RandomBytes
}

export interface OpenedLink {
  readonly link: PaymentLink
  readonly merchant: Merchant
  readonly state: LinkState
}

export type BegunAtLink =
  /** Where the order is paid, without the host. */
  | { readonly kind: 'begun'; readonly path: string }
  | { readonly kind: 'out_of_bounds'; readonly bound: 'tooLittle' | 'tooMuch' }
  /** It cannot be paid now: the page says why. */
  | { readonly kind: 'not_payable' }

export interface Beginning {
  readonly amountMinor: bigint
  /** Of the form: sent twice, it is one order. */
  readonly formNumber: string
}

export type OpenLink = ReturnType<typeof makeOpenLink>

/** A race that is lost finds the winner's order the next time, so only lost answers use up these. */
const maxTries = 10
const suffixBytes = 10

export function makeOpenLink(parts: OpenLinkParts) {
  const { links, orders, placeOrder, directory, clock, random } = parts
  return {
    find,

    async begin(opened: Pick<OpenedLink, 'link'>, given: Beginning): Promise<BegunAtLink> {
      // Looked at again: it may have ended while whoever pressed waited for their turn.
      const current = await find(opened.link.linkId)
      if (current?.merchant.status !== 'active' || current.state !== 'active') return { kind: 'not_payable' }
      const { link, merchant } = current
      const bound = boundBroken(link, given.amountMinor)
      if (bound) return { kind: 'out_of_bounds', bound }
      const { merchantId, paymentId } = await findOrMake(link, merchant, given)
      const token = parts.linkTokens.make([merchantId, paymentId])
      return { kind: 'begun', path: checkoutUrl({ merchantId, paymentId, token }, '') }
    },
  }

  async function find(linkId: string): Promise<OpenedLink | undefined> {
    if (!linkIdPattern.test(linkId)) return undefined
    const link = await links.findLink(linkId)
    if (!link) return undefined
    const nowMs = clock.now()
    const { merchantId } = link
    const { known } = directory.remembered(merchantId, nowMs) ?? (await directory.load(merchantId, nowMs))
    if (!known) return undefined
    const isPaid = link.uses === 'once' && (await links.readTotals(link)).paidCount > 0
    return { link, merchant: known.merchant, state: linkState(link, { isPaid, nowMs }) }
  }

  async function findOrMake(link: PaymentLink, merchant: Merchant, given: Beginning): Promise<Order> {
    const { amountMinor } = given
    let suffix = given.formNumber
    for (let tries = 0; tries < maxTries; tries++) {
      const nowMs = clock.now()
      const last = link.uses === 'once' ? await links.findStanding(link) : await findBySuffix(link, suffix)
      const earlier = last && (await parts.currentOrder(last, nowMs))
      const standing = earlier ? standingOf(earlier, amountMinor) : 'over'
      if (earlier && standing === 'leads_on') return earlier
      const isInTheWay = earlier && standing === 'in_the_way' && link.uses === 'once'
      if (isInTheWay && !(await madeRoom(earlier, nowMs))) continue
      suffix = link.uses === 'once' ? nextNumber(earlier, tries) : earlier ? freshSuffix() : suffix
      const made = makeOrder(orderOfLink(link, { amountMinor, suffix, nowMs }), {
        merchantId: link.merchantId,
        paymentId: makePaymentId(nowMs, random),
        nowMs,
        link: { linkId: link.linkId, uses: link.uses },
      })
      const stored = await placeOrder.place(made, merchant, nowMs)
      if (stored?.paymentId === made.paymentId) return stored
    }
    throw new Failure('unavailable', { retryAfterSeconds: 1 })
  }

  function findBySuffix(link: PaymentLink, suffix: string): Promise<Order | undefined> {
    return orders.findOrderByNumber({ merchantId: link.merchantId, orderNo: orderNoOf(link, suffix) })
  }

  /** The consumer wants to pay another amount than they began with. False: somebody pays it by now. */
  async function madeRoom(order: Order, nowMs: number): Promise<boolean> {
    const change = cancelOrder(order, {
      actor: 'consumer',
      callbackId: makeCallbackId(nowMs, random),
      nowMs,
    })
    return change !== undefined && (await orders.commitStatusChanges([change])).length > 0
  }

  function freshSuffix(): string {
    return Buffer.from(random(suffixBytes)).toString('hex')
  }
}

/** Where a merchant took the number for an order of its own, the next try passes it by. */
function nextNumber(last: Order | undefined, tries: number): string {
  const number = Number(last?.orderNo.slice(last.orderNo.lastIndexOf('-') + 1) ?? 0)
  return String(number + 1 + Math.floor(tries / 2))
}
