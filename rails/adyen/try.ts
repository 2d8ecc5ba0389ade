// Sends every request of the rail to Adyen's test platform and receives its webhooks at RAIL_PORT, which Adyen must reach:
// ADYEN_API_KEY=… ADYEN_MERCHANT_ACCOUNT=… ADYEN_HMAC_KEY=… npm run try
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Notice, StoredPayment, StoredRefund } from '@tillgate/rail-kit/provider'
import { tryProvider } from '@tillgate/rail-kit/try-provider'
import { type AdyenGiven, AdyenProvider } from './src/adyen-provider.ts'

const {
  ADYEN_API_KEY: apiKey = '',
  ADYEN_MERCHANT_ACCOUNT: merchantAccount = '',
  ADYEN_HMAC_KEY: hmacKey = '',
  ADYEN_LIVE_PREFIX: livePrefix = '',
  ADYEN_API_URL: apiUrl = '',
  RAIL_PORT = '8090',
  WAIT_SECONDS = '300',
} = process.env
if (!apiKey || !merchantAccount || !hmacKey || livePrefix !== '') {
  process.stderr.write(
    'Set the keys and the merchant account of Adyen’s test platform, and no live prefix.\n',
  )
  process.exit(78)
}

const notice = new Map<string, Notice>()
const noticeOf = (id: string): Notice => notice.get(id) ?? {}

/** Keeps webhooks in memory, where the rail uses its database. */
class TriedProvider extends AdyenProvider {
  override readPayment(payment: StoredPayment & { readonly providerId: string }) {
    return super.readPayment({ ...payment, notice: noticeOf(payment.transactionId) })
  }
  override readRefund(refund: StoredRefund & { readonly providerId: string }) {
    return super.readRefund({ ...refund, notice: noticeOf(refund.refundId) })
  }
}

const given: AdyenGiven = { apiKey, merchantAccount, hmacKey, livePrefix, apiUrl, now: Date.now }
const provider = new TriedProvider(given)
const server = createServer(async (request, response) => {
  const { headers } = request
  const body = await text(request)
  const webhook = provider.readWebhook({ headers, query: new URLSearchParams(), body, nowMs: Date.now() })
  if (webhook.kind === 'changed')
    for (const id of [webhook.payment, webhook.refund].flatMap((named) => Object.values(named ?? {})))
      notice.set(id, { ...noticeOf(id), ...webhook.notice })
  response.writeHead(webhook.kind === 'forged' ? 401 : 200).end('[accepted]')
}).listen(Number(RAIL_PORT))
await tryProvider({
  provider,
  searches: false,
  refundsAreDecided: 'later',
  howToPay: 'with the card 4111 1111 1111 1111, 03/30 and 737',
  write: (output) => void process.stdout.write(output),
  waitMs: Number(WAIT_SECONDS) * 1000,
})
server.close()
server.closeAllConnections()
