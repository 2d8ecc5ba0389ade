// Shows a payment link and creates its order. A single-use link has one live order: its number follows the last
// unpaid one, so that concurrent consumers create and find the same order.
import {
  Failure,
  type LinkState,
  linkIdPattern,
  makeCallbackId,
  makePaymentId,
  type RandomBytes,
} from '@tillgate/protocol'
import type { MerchantDirectory } from '../../core/merchants/merchant-directory.ts'
import type { Merchant } from '../../core/merchants/rules/merchant.ts'
import type { CurrentOrder } from '../../core/orders/current-order.ts'
import type { PlaceOrder } from '../../core/orders/place-order.ts'
import { checkoutUrl } from '../../core/orders/rules/checkout-url.ts'
import { makeOrder, type Order } from '../../core/orders/rules/order.ts'
import { cancelOrder } from '../../core/orders/rules/status-change.ts'
import type { OrderStore } from '../../core/orders/store/orders.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import { boundBroken, linkState, orderNoOf, orderOfLink, type PaymentLink, standingOf } from './rules/link.ts'
import { UnfinishedOrders } from './rules/unfinished-orders.ts'
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
  /** The checkout path without the host. */
  | { readonly kind: 'begun'; readonly path: string }
  | { readonly kind: 'out_of_bounds'; readonly bound: 'tooLittle' | 'tooMuch' }
  /** The page shows the reason. */
  | { readonly kind: 'not_payable' }
  /** Too many unpaid orders from this address. */
  | { readonly kind: 'unfinished'; readonly waitMs: number }

export interface Beginning {
  readonly amountMinor: bigint
  /** Identifies the form, so that sending it twice creates one order. */
  readonly formNumber: string
  /** The address whose unpaid orders are counted; if omitted, none are. */
  readonly from?: string
}

export type OpenLink = ReturnType<typeof makeOpenLink>

/** A lost race finds the winner's order next time, so only lost responses use up tries. */
const maxTries = 10
const suffixBytes = 10

interface State extends OpenLinkParts {
  readonly unfinished: UnfinishedOrders
}

export function makeOpenLink(parts: OpenLinkParts) {
  const state: State = { ...parts, unfinished: new UnfinishedOrders() }
  return bindAll(state, { find, begin })
}

async function begin(state: State, opened: Pick<OpenedLink, 'link'>, given: Beginning): Promise<BegunAtLink> {
  // The link may have ended during the wait.
  const current = await find(state, opened.link.linkId)
  if (current?.merchant.status !== 'active' || current.state !== 'active') return { kind: 'not_payable' }
  const { link, merchant } = current
  const bound = boundBroken(link, given.amountMinor)
  if (bound) return { kind: 'out_of_bounds', bound }
  const found = await findOrMake(state, link, merchant, given)
  if ('waitMs' in found) return { kind: 'unfinished', waitMs: found.waitMs }
  const { merchantId, paymentId } = found
  const token = state.linkTokens.make([merchantId, paymentId])
  return { kind: 'begun', path: checkoutUrl({ merchantId, paymentId, token }, '') }
}

async function find({ links, clock, directory }: State, linkId: string): Promise<OpenedLink | undefined> {
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

async function findOrMake(
  state: State,
  link: PaymentLink,
  merchant: Merchant,
  given: Beginning,
): Promise<Order | { readonly waitMs: number }> {
  const { clock, links, random, placeOrder } = state
  const { amountMinor } = given
  let suffix = given.formNumber
  for (let tries = 0; tries < maxTries; tries++) {
    const nowMs = clock.now()
    const last =
      link.uses === 'once' ? await links.findStanding(link) : await findBySuffix(state, link, suffix)
    const earlier = last && (await state.currentOrder(last, nowMs))
    const standing = earlier ? standingOf(earlier, amountMinor) : 'over'
    if (earlier && standing === 'leads_on') return earlier
    const paymentId = makePaymentId(nowMs, random)
    const waitMs = await count(state, link, given, paymentId)
    if (waitMs > 0) return { waitMs }
    const isInTheWay = earlier && standing === 'in_the_way' && link.uses === 'once'
    suffix = link.uses === 'once' ? nextNumber(earlier, tries) : earlier ? freshSuffix(state) : suffix
    const made = makeOrder(orderOfLink(link, { amountMinor, suffix, nowMs }), {
      merchantId: link.merchantId,
      paymentId,
      nowMs,
      link: { linkId: link.linkId, uses: link.uses },
    })
    try {
      const isFree = !isInTheWay || (await madeRoom(state, earlier, nowMs))
      const stored = isFree ? await placeOrder.place(made, merchant, nowMs) : undefined
      if (stored?.paymentId === paymentId) return stored
    } catch (error) {
      forget(state, link, given, paymentId)
      throw error
    }
    forget(state, link, given, paymentId)
  }
  throw new Failure('unavailable', { retryAfterSeconds: 1 })
}

/** Returns 0 or the milliseconds until this address may create another order at the link. */
async function count(
  { unfinished, clock, links }: State,
  link: PaymentLink,
  { from }: Beginning,
  paymentId: string,
): Promise<number> {
  if (from === undefined) return 0
  const key = keyOf(link, from)
  const begun = unfinished.toLookAt(key, clock.now())
  const paid = begun.length === 0 ? [] : await links.listPaid(link, begun)
  for (const each of paid) unfinished.forget(key, each)
  return unfinished.begin(key, paymentId, clock.now())
}

function forget({ unfinished }: State, link: PaymentLink, { from }: Beginning, paymentId: string): void {
  if (from !== undefined) unfinished.forget(keyOf(link, from), paymentId)
}

function findBySuffix({ orders }: State, link: PaymentLink, suffix: string): Promise<Order | undefined> {
  return orders.findOrderByNumber({ merchantId: link.merchantId, orderNo: orderNoOf(link, suffix) })
}

/** Cancels the order to change its amount. False if it is being paid. */
async function madeRoom({ random, orders }: State, order: Order, nowMs: number): Promise<boolean> {
  const change = cancelOrder(order, {
    actor: 'consumer',
    callbackId: makeCallbackId(nowMs, random),
    nowMs,
  })
  return change !== undefined && (await orders.commitStatusChanges([change])).length > 0
}

function freshSuffix({ random }: State): string {
  return Buffer.from(random(suffixBytes)).toString('hex')
}

function keyOf({ linkId }: PaymentLink, from: string): string {
  return `${linkId} ${from}`
}

/** If the merchant used the number for its own order, the next try skips it. */
function nextNumber(last: Order | undefined, tries: number): string {
  const number = Number(last?.orderNo.slice(last.orderNo.lastIndexOf('-') + 1) ?? 0)
  return String(number + 1 + Math.floor(tries / 2))
}
