// The fake's disputes: each event is a webhook, and all events of a dispute have its number.
import type { FakeDisputes } from '../../kit/test/fake-provider.ts'

interface Amount {
  readonly currency: string
  readonly value: number
}

interface Dispute {
  readonly pspReference: string
  readonly transactionId: string
  readonly amount: Amount
  readonly events: string[]
}

/** A row of the settlement report. */
export interface DisputeRow {
  readonly type: string
  readonly pspReference: string
  readonly value: number
}

const reportTypes = new Map([
  ['CHARGEBACK', { type: 'Chargeback', sign: -1 }],
  ['CHARGEBACK_REVERSED', { type: 'ChargebackReversed', sign: 1 }],
  ['SECOND_CHARGEBACK', { type: 'SecondChargeback', sign: -1 }],
])
const week = 7 * 24 * 3_600_000

export function makeFakeDisputes(parts: {
  readonly nowMs: () => number
  readonly nextReference: () => string
  readonly paidOf: (transactionId: string) => { readonly pspReference: string; readonly amount: Amount }
  readonly post: (
    about: { readonly reference: string; readonly amount: Amount },
    fields: Readonly<Record<string, unknown>>,
    how?: { forged?: boolean; tries?: number },
  ) => Promise<number>
}) {
  const disputes = new Map<string, Dispute>()

  function found(id: string): Dispute {
    const dispute = disputes.get(id)
    if (!dispute) throw new Error(`Adyen has no dispute ${id}`)
    return dispute
  }

  function post(dispute: Dispute, eventCode: string, more: object = {}, how = {}): Promise<number> {
    const { pspReference, transactionId, amount } = dispute
    const fields = {
      eventCode,
      success: 'true',
      pspReference,
      originalReference: parts.paidOf(transactionId).pspReference,
      reason: 'Merchandise/Services Not Received',
      additionalData: { chargebackReasonCode: '13.1', chargebackSchemeCode: 'visa', ...more },
    }
    return parts.post({ reference: transactionId, amount }, fields, how)
  }

  function happens(dispute: Dispute, eventCode: string, more: object = {}): Promise<number> {
    dispute.events.push(eventCode)
    return post(dispute, eventCode, more)
  }

  function add(transactionId: string, value?: number): Dispute {
    const { amount } = parts.paidOf(transactionId)
    const pspReference = parts.nextReference()
    const dispute = {
      pspReference,
      transactionId,
      amount: { ...amount, value: value ?? amount.value },
      events: [],
    }
    disputes.set(pspReference, dispute)
    return dispute
  }

  const deadline = () => ({
    defensePeriodEndsAt: new Date(parts.nowMs() + week).toISOString(),
    disputeStatus: 'Undefended',
  })

  const atProvider: FakeDisputes = {
    feeMinor: undefined,
    async open(transactionId, amount) {
      const dispute = add(transactionId, amount)
      await happens(dispute, 'NOTIFICATION_OF_CHARGEBACK', deadline())
      await happens(dispute, 'CHARGEBACK', deadline())
      return dispute.pspReference
    },
    async inquire(transactionId) {
      const dispute = add(transactionId)
      await happens(dispute, 'REQUEST_FOR_INFORMATION')
      await happens(dispute, 'NOTIFICATION_OF_CHARGEBACK', deadline())
      return dispute.pspReference
    },
    async decide(disputeId, result) {
      const dispute = found(disputeId)
      const isReversed = dispute.events.includes('CHARGEBACK_REVERSED')
      const lost = isReversed ? 'SECOND_CHARGEBACK' : 'DISPUTE_DEFENSE_PERIOD_ENDED'
      const won = isReversed ? 'PREARBITRATION_WON' : 'CHARGEBACK_REVERSED'
      await happens(dispute, result === 'won' ? won : lost)
    },
    sendWebhook: (disputeId, { forged = false } = {}) =>
      // Claims in a field that the signature does not cover that the dispute is lost.
      post(found(disputeId), 'CHARGEBACK', { ...deadline(), disputeStatus: 'Lost' }, { forged, tries: 1 }),
    evidence: () => [],
  }

  return {
    atProvider,

    async accept({ merchantAccountCode, disputePspReference, ...rest }: Readonly<Record<string, unknown>>) {
      if (Object.keys(rest).length > 0 || merchantAccountCode === undefined)
        throw new Error('the request has other fields')
      const dispute = found(String(disputePspReference))
      const isOver = dispute.events.includes('DISPUTE_DEFENSE_PERIOD_ENDED')
      if (!isOver) await happens(dispute, 'DISPUTE_DEFENSE_PERIOD_ENDED')
      const disputeServiceResult = isOver
        ? { success: false, errorMessage: 'The dispute cannot be accepted.' }
        : { success: true }
      return { disputeServiceResult }
    },

    rowsOf: (transactionId: string): DisputeRow[] =>
      [...disputes.values()]
        .filter((dispute) => dispute.transactionId === transactionId)
        .flatMap(({ pspReference, amount, events }) =>
          events.flatMap((event) => {
            const { type, sign } = reportTypes.get(event) ?? {}
            return type === undefined || sign === undefined
              ? []
              : [{ type, pspReference, value: sign * amount.value }]
          }),
        ),
  }
}
