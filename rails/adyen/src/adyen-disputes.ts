// Adyen's disputes. Adyen has no request for the state of a dispute, so the signed fields of its webhooks are stored, and
// the state is a function of which events came, in whatever order.
import type { DisputeReason, DisputeStatus } from '@tillgate/protocol'
import type { Notice, ProviderDispute, ProviderDisputes } from '@tillgate/rail-kit/provider'
import { Refused } from '@tillgate/rail-kit/request'
import type { AdyenApi, WebhookItem } from './adyen-api.ts'
import { type AdyenAmount, fromAdyenAmount } from './amounts.ts'

/** Events that move the money or end the dispute. The first that came decides. */
const statuses: Readonly<Record<string, DisputeStatus>> = {
  PREARBITRATION_WON: 'won',
  PREARBITRATION_LOST: 'lost',
  SECOND_CHARGEBACK: 'lost',
  CHARGEBACK_REVERSED: 'won',
  DISPUTE_DEFENSE_PERIOD_ENDED: 'lost',
  CHARGEBACK: 'open',
}
const events = Object.keys(statuses)
/** These alone take no money. */
const announcements = ['DISPUTE_DEFENSE_PERIOD_ENDED', 'NOTIFICATION_OF_CHARGEBACK']

interface Event {
  readonly amount: AdyenAmount
  /** Not covered by the signature, so only a known reason and a plausible time are stored. */
  readonly reason?: DisputeReason | undefined
  readonly respondByMs?: number | undefined
}

/** Undefined for events that are not about the money of a dispute. */
export function disputeNotice(item: WebhookItem): Notice | undefined {
  const { eventCode, success, pspReference, amount, additionalData = {} } = item
  const isKnown = events.includes(eventCode) || announcements.includes(eventCode)
  if (!isKnown || success !== 'true') return undefined
  const { chargebackReasonCode = '', defensePeriodEndsAt = '' } = additionalData
  const respondByMs = Date.parse(defensePeriodEndsAt)
  const event: Event = {
    amount: { currency: amount.currency, value: amount.value },
    reason: reasons.get(chargebackReasonCode.trim()),
    ...(respondByMs > 0 && { respondByMs }),
  }
  return { [`${pspReference} ${eventCode}`]: event }
}

export function makeDisputes(api: AdyenApi, merchantAccount: string): ProviderDisputes {
  return {
    async list(_payment, notice) {
      const ids = new Set(Object.keys(notice).map((key) => key.split(' ')[0] ?? ''))
      return [...ids].flatMap((disputeId) => disputeOf(disputeId, notice) ?? [])
    },
    /** A webhook reports the result, also of an acceptance that came too late or twice. */
    async accept({ disputeId }) {
      await api.acceptDispute(merchantAccount, disputeId).catch((error: unknown) => {
        if (!(error instanceof Refused)) throw error
      })
    },
  }
}

function disputeOf(disputeId: string, notice: Notice): ProviderDispute | undefined {
  // Safe: only `disputeNotice` writes it.
  const eventOf = (code: string) => notice[`${disputeId} ${code}`] as Event | undefined
  const came = events.flatMap((code) => eventOf(code) ?? [])
  const taking = events.filter((code) => !announcements.includes(code)).findLast((code) => eventOf(code))
  const decisive = events.find((code) => eventOf(code))
  const taken = taking === undefined ? undefined : eventOf(taking)
  if (!taken || decisive === undefined) return undefined
  const status = statuses[decisive] ?? 'open'
  const reason = [...came, eventOf('NOTIFICATION_OF_CHARGEBACK')].find((event) => event?.reason)?.reason
  return {
    disputeId,
    status,
    ...fromAdyenAmount(taken.amount),
    reason: reason ?? 'other',
    respondByMs: status === 'open' ? taken.respondByMs : undefined,
    accepts: status === 'open' ? ['accept'] : [],
  }
}

/** The reason codes of Visa and Mastercard. */
const reasons: ReadonlyMap<string, DisputeReason> = new Map([
  ['10.1', 'fraudulent'],
  ['10.2', 'fraudulent'],
  ['10.3', 'fraudulent'],
  ['10.4', 'fraudulent'],
  ['10.5', 'fraudulent'],
  ['4837', 'fraudulent'],
  ['4863', 'fraudulent'],
  ['4870', 'fraudulent'],
  ['4871', 'fraudulent'],
  ['12.6.1', 'duplicate'],
  ['12.6.2', 'duplicate'],
  ['4834', 'duplicate'],
  ['13.1', 'not_received'],
  ['13.3', 'not_as_described'],
  ['13.4', 'not_as_described'],
  ['13.5', 'not_as_described'],
  ['13.2', 'cancelled'],
  ['13.6', 'cancelled'],
  ['13.7', 'cancelled'],
])
