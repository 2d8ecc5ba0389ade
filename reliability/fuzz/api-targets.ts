// The merchant API over real HTTP on a real PostgreSQL: sealed as a merchant seals, so that the body reaches the
// operation behind it; and envelopes that were changed on the way.
import assert from 'node:assert/strict'
import {
  Failure,
  failures,
  gatewayPath,
  isMethod,
  type Json,
  type Method,
  makeChecker,
  maxEnvelopeBytes,
  methods,
  openCallback,
  parseCallbackEnvelope,
  parseRequestEnvelope,
  sandboxListenAnswerSchema,
} from '@tillgate/protocol'
import { createBody } from '../../packages/gateway/test/support/order.ts'
import { checkAnswer } from './expected-answer.ts'
import type { Target } from './guided.ts'
import { bodies } from './message-targets.ts'
import type { FuzzWorld } from './world.ts'

export async function apiTargets(world: FuzzWorld): Promise<Target[]> {
  const targets = Object.keys(methods)
    .filter(isMethod)
    .map((method) => apiBody(world, method))
  return [...targets, await apiEnvelope(world)]
}

function apiBody({ merchant, gateway, platformKeys, words }: FuzzWorld, method: Method): Target {
  const { parse, right } = bodies[method]
  const [paymentId] = words
  const now = gateway.clock.now()
  const seeds = method === 'service.trade.create' ? [createBody({ now }), ...right] : right
  const ownPath = methods[method].path
  return {
    name: `api ${method}`,
    words,
    seeds: seeds.map((body) =>
      Buffer.from(JSON.stringify('paymentId' in body ? { ...body, paymentId } : body)),
    ),
    async run(input) {
      const body = input.toString()
      const sealed = JSON.stringify(await merchant.seal(method, body))
      const answer = await gateway.post(input.length % 2 === 0 ? ownPath : gatewayPath, sealed)
      const outcome = checkAnswer(answer)
      const expected = refusalOf(() => parse(body))
      if (Buffer.byteLength(sealed) > maxEnvelopeBytes) assert.equal(outcome, 'too_large')
      else if (expected) {
        assert.equal(answer.code, expected.code, 'the gateway reads a body as the protocol does')
        assert.equal(answer.data.field, expected.field)
      } else assert(!['envelope_not_opened', 'malformed_envelope'].includes(outcome), outcome)
      if (method === 'service.sandbox.listen' && outcome === 'success') await checkCallbacks(answer.data)
      return outcome
    },
  }

  /** What is handed out is signed by the gateway and sealed for this merchant. */
  async function checkCallbacks(data: Json): Promise<void> {
    const { callbacks } = readListenAnswer(data)
    const keys = { aesKeys: [merchant.aesKey], publicKeys: platformKeys }
    for (const { envelope } of callbacks)
      assert(await openCallback(parseCallbackEnvelope(envelope), keys), 'a callback does not open')
  }
}

const readListenAnswer = makeChecker(sandboxListenAnswerSchema, {
  failure: 'invalid_field',
  whole: 'the answer',
})

async function apiEnvelope({ merchant, gateway, words }: FuzzWorld): Promise<Target> {
  const [paymentId] = words
  const sealed = await Promise.all(
    ['service.trade.query', 'service.trade.cancel'].map((method) => merchant.seal(method, { paymentId })),
  )
  return {
    name: 'api envelope',
    words: [...Object.keys(methods), merchant.merchantId],
    seeds: sealed.map((envelope) => Buffer.from(JSON.stringify(envelope))),
    async run(input) {
      const answer = await gateway.post(gatewayPath, input)
      const outcome = checkAnswer(answer)
      const expected = refusalOf(() => parseRequestEnvelope(input.toString()))
      if (input.length > maxEnvelopeBytes) assert.equal(outcome, 'too_large')
      else if (expected)
        assert.equal(answer.code, expected.code, 'the gateway reads an envelope as the protocol does')
      else if (outcome !== 'success')
        assert(
          allowedOfAnEnvelope.includes(answer.code),
          `an envelope that can be read was answered ${answer.code}`,
        )
      return outcome
    },
  }
}

const allowedOfAnEnvelope: readonly number[] = [
  failures.envelope_not_opened.code,
  failures.timestamp_outside_window.code,
  failures.no_such_operation.code,
  failures.status_does_not_allow.code,
]

function refusalOf(parse: () => unknown): Failure | undefined {
  try {
    parse()
    return undefined
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}
