// What gateway and rail read of each other: messages, answers, notifications and their signatures. An answer that is taken is
// one that the checkout can show, and nothing is genuine that nobody signed.
import assert from 'node:assert/strict'
import {
  parseRailMessage,
  parseRailNotification,
  parseRailPaymentAnswer,
  parseRailRefundAnswer,
  signWebhook,
  verifyRailResponse,
  verifyWebhook,
} from '@tillgate/protocol'
import { railMessageSamples, railNotificationSamples } from '../../packages/protocol/test/rail-vectors.ts'
import type { Target } from './guided.ts'
import { reading } from './message-targets.ts'

const paymentAnswers = [
  {
    status: 'pending',
    nextAction: { kind: 'redirect', url: 'https://bank.example/pay/1' },
    checkAfterSeconds: 5,
  },
  { status: 'pending', nextAction: { kind: 'qr', text: '000201', caption: 'Scan it' }, reference: 'B-1' },
  { status: 'pending', nextAction: { kind: 'instructions', lines: [{ label: 'IBAN', value: 'DE89' }] } },
  { status: 'submitted' },
  { status: 'approved', reference: 'B-1' },
  { status: 'declined', reason: 'no' },
  { status: 'cancelled' },
]
const refundAnswers = [{ status: 'submitted' }, { status: 'approved' }, { status: 'declined', reason: 'no' }]

export function railTargets(): Target[] {
  return [
    reading({ name: 'message to a rail', parse: parseRailMessage, right: Object.values(railMessageSamples) }),
    reading({ name: 'answer of a rail to a payment', parse: takePaymentAnswer, right: paymentAnswers }),
    reading({
      name: 'answer of a rail to a refund',
      parse: (text) => parseRailRefundAnswer('refund.start', text),
      right: refundAnswers,
    }),
    reading({ name: 'notification of a rail', parse: parseRailNotification, right: railNotificationSamples }),
    signed({
      name: 'signature of a notification',
      bodies: railNotificationSamples,
      verify: (headers, body) => verifyWebhook(headers, body, { secrets, nowMs }),
    }),
    signed({
      name: 'signature of a response',
      bodies: [...paymentAnswers, ...refundAnswers],
      verify: (headers, body) =>
        verifyRailResponse(headers, Buffer.from(body), { messageId: 'msg_1', secrets, nowMs }),
    }),
  ]
}

function takePaymentAnswer(text: string): void {
  const answer = parseRailPaymentAnswer('payment.status', text)
  if (answer.status !== 'pending' || answer.nextAction.kind !== 'redirect') return
  assert.match(answer.nextAction.url.trim(), /^https?:/i, 'a consumer would be sent to a script')
}

const secrets = ['whsec_dGVzdCBzZWNyZXQgb2YgYSByYWlsLCAzMiBieXRlcy4=']
const nowMs = 1_760_000_000_000

interface Signed {
  readonly name: string
  readonly bodies: readonly object[]
  readonly verify: (headers: Readonly<Record<string, string>>, body: string) => string
}

/** The headers and the body, as one text that is changed as a whole. */
function signed({ name, bodies, verify }: Signed): Target {
  const messages = bodies.map((each, index) => {
    const body = JSON.stringify(each)
    return { ...signWebhook({ id: `msg_${index}`, body }, { secrets, nowMs }), body }
  })
  const originals = messages.map((each) => `${each['webhook-id']}.${each['webhook-timestamp']}.${each.body}`)
  return {
    name,
    seeds: messages.map((each) => Buffer.from(JSON.stringify(each))),
    async run(input) {
      let sent: Record<string, unknown>
      try {
        sent = Object(JSON.parse(input.toString()))
      } catch {
        return 'no headers'
      }
      const { body = '', ...rest } = sent
      const headers = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)]))
      const verdict = verify(headers, String(body))
      const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
      assert.equal(
        verdict === 'genuine' && !originals.includes(content),
        false,
        'genuine, and nobody signed it',
      )
      return verdict
    },
  }
}
