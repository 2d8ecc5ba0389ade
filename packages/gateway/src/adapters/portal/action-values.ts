// The initial values of an action's screen.
import { randomBytes } from 'node:crypto'
import { makeRefundId, toMinorUnits, uuidPattern } from '@tillgate/protocol'
import type { PortalForm } from '../../actions/action.ts'
import { leftOf } from '../../actions/orders/order-actions.ts'
import type { Visit } from './portal.ts'

export type Values = Readonly<Record<string, string | undefined>>

/** The initial values of the screen; undefined if the subject does not belong to this merchant. */
export async function valuesOf(
  { operations, context, params, nowMs, language }: Visit,
  { name }: PortalForm,
): Promise<Values | undefined> {
  switch (name) {
    case 'refund':
    case 'capture':
    case 'release':
    case 'cancel': {
      const found = await operations.showOrder(context, {
        merchantId: context.merchantId,
        paymentId: params['paymentId'] ?? '',
      })
      if (!found) return undefined
      const left = leftOf(found.order)
      const { currency } = found.order
      return {
        referCaptureNo: `portal-${makeRefundId(nowMs, randomBytes)}`,
        referRefundNo: `portal-${makeRefundId(nowMs, randomBytes)}`,
        amount: left,
        most: language.formats.moneyText(toMinorUnits(left, currency, 'amount'), currency),
      }
    }
    case 'resend': {
      const { callbackId = '' } = params
      return uuidPattern.test(callbackId)
        ? (await operations.callbacks.showCallback(context, callbackId)) && {}
        : undefined
    }
    case 'endpointEvents':
    case 'testEndpoint':
    case 'pauseEndpoint':
    case 'resumeEndpoint':
    case 'removeEndpoint':
    case 'rotateEndpointSecret': {
      const { endpointId = '' } = params
      if (!uuidPattern.test(endpointId)) return undefined
      const { endpoint } = await operations.endpoints.showEndpoint(context, {
        merchantId: context.merchantId,
        endpointId,
      })
      return { events: endpoint.events?.join(','), event: endpoint.events?.[0] ?? 'payment.order.success' }
    }
    case 'revokeKey':
    case 'useForCallbacks':
      return (await operations.merchants.showMerchant(context, context.merchantId)).keys.some(
        ({ keyId }) => keyId === params['keyId'],
      )
        ? {}
        : undefined
    case 'settings': {
      const { defaultCallbackUrl, callbackHosts, accentColour } = (
        await operations.merchants.showMerchant(context, context.merchantId)
      ).merchant
      return { defaultCallbackUrl, callbackHosts: callbackHosts?.join(', '), accentColour }
    }
    case 'changeRole':
    case 'remove': {
      const found = (await operations.members.listMembers(context, context.merchantId)).members.find(
        ({ login }) => login === params['login'],
      )
      return found && { role: found.role }
    }
    case 'newLink':
      return {
        linkNo: `portal-${makeRefundId(nowMs, randomBytes)}`,
        uses: 'many',
        ...(await ownCurrencies({ operations, context })),
      }
    case 'bankAccount':
      return ownCurrencies({ operations, context })
    case 'pauseLink':
    case 'resumeLink':
    case 'closeLink':
      return (
        (await operations.links.showOnPage(context, {
          merchantId: context.merchantId,
          linkId: params['linkId'] ?? '',
        })) && {}
      )
    case 'disputeEvidence':
    case 'acceptDispute': {
      const { disputeId = '' } = params
      const key = { merchantId: context.merchantId, disputeId }
      return (await operations.disputes.showDispute(context, key)) && {}
    }
    case 'stopBankAccount':
      return (await operations.bankAccounts.listBankAccounts(context, context.merchantId)).some(
        ({ bankAccountId }) => bankAccountId === params['bankAccountId'],
      )
        ? {}
        : undefined
    case 'withdraw':
      return (await operations.members.listMembers(context, context.merchantId)).invitations.some(
        ({ linkId }) => linkId === params['linkId'],
      )
        ? {}
        : undefined
    default:
      return {}
  }
}

/** The currencies that the shop has money in, which a form offers first. */
async function ownCurrencies({
  operations,
  context,
}: Pick<Visit, 'operations' | 'context'>): Promise<Values> {
  const accounts = await operations.readMerchant.listAccounts(context)
  const own = accounts.map(({ currency }) => currency)
  return { currency: own[0], ownCurrencies: own.join(',') }
}
