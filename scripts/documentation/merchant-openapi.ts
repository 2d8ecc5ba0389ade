// docs/openapi-merchant.json: the merchant API as OpenAPI 3.1, from the schemas that the gateway works by. What goes over
// the wire is an envelope; what it carries is described as it is before it is sealed, under `x-sealed-body`.
import { readFileSync } from 'node:fs'
import type { TSchema } from 'typebox'
import { callbackEnvelopeSchema, requestEnvelopeSchema } from '../../packages/protocol/src/envelope.ts'
import { notesOf } from '../../packages/protocol/src/fields.ts'
import {
  failures,
  httpStatusOf,
  orderEvents,
  refundEvents,
  successCode,
  successMessage,
} from '../../packages/protocol/src/index.ts'
import { billBodySchema } from '../../packages/protocol/src/messages/bills.ts'
import { captureBodySchema, releaseBodySchema } from '../../packages/protocol/src/messages/captures.ts'
import { createBodySchema } from '../../packages/protocol/src/messages/create-body.ts'
import * as links from '../../packages/protocol/src/messages/links.ts'
import { orderListBodySchema } from '../../packages/protocol/src/messages/order-list.ts'
import * as requests from '../../packages/protocol/src/messages/requests.ts'
import { paymentResultSchema, refundResultSchema } from '../../packages/protocol/src/messages/results.ts'
import { scanBodySchema } from '../../packages/protocol/src/messages/scans.ts'
import {
  extensionMethods,
  gatewayPath,
  type Method,
  pathPrefix,
  tradeMethods,
} from '../../packages/protocol/src/methods.ts'
import { operations, sharedFailures } from './operations.ts'

/** The methods of live gateways, by what the body of each must be. */
export const bodySchemas = {
  'service.trade.create': createBodySchema,
  'service.trade.query': requests.queryBodySchema,
  'service.trade.cancel': requests.cancelBodySchema,
  'service.trade.refund': requests.refundBodySchema,
  'service.trade.callback': requests.callbackBodySchema,
  'service.order.list': orderListBodySchema,
  'service.order.capture': captureBodySchema,
  'service.order.release': releaseBodySchema,
  'service.order.scan': scanBodySchema,
  'service.bill.get': billBodySchema,
  'service.link.create': links.linkCreateBodySchema,
  'service.link.query': links.linkQueryBodySchema,
  'service.link.close': links.linkCloseBodySchema,
} as const satisfies Partial<Record<Method, TSchema>>

export type LiveMethod = keyof typeof bodySchemas
// Safe: these are its own keys.
export const liveMethods = Object.keys(bodySchemas) as readonly LiveMethod[]

const vectors = JSON.parse(
  readFileSync(new URL('../../docs/test-vectors.json', import.meta.url), 'utf8'),
) as {
  readonly requests: readonly { readonly name: string; readonly body: string; readonly envelope: object }[]
}

/** A request of the test vectors, sealed and as it was before. */
export function exampleOf(method: LiveMethod): { readonly body: object; readonly envelope: object } {
  const found = vectors.requests.find(({ name }) => name === operations[method].example)
  if (!found) throw new Error(`there is no request "${operations[method].example}" in the vectors`)
  return { body: JSON.parse(found.body), envelope: found.envelope }
}

export function makeMerchantOpenApi() {
  const { version } = JSON.parse(
    readFileSync(new URL('../../packages/gateway/package.json', import.meta.url), 'utf8'),
  ) as { version: string }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tillgate merchant API',
      version,
      description: `Every request is an envelope: its \`body\` is JSON text, signed with the merchant’s RSA key and encrypted with its AES key (\`x-sealing\`). \`x-sealed-body\` describes the body before it is sealed. Every path is also served behind \`${pathPrefix}\`, and \`${gatewayPath}\` takes every method. Answers are plain JSON.`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The public listener.' }],
    'x-sealing': sealing,
    paths: {
      ...Object.fromEntries(
        Object.entries(tradeMethods).map(([method, { path }]) => [
          path,
          // Safe: these are its own keys.
          { post: operationOf(method as LiveMethod) },
        ]),
      ),
      [gatewayPath]: { post: everyMethod() },
    },
    webhooks: Object.fromEntries(
      Object.entries({ ...orderEvents, ...refundEvents }).map(([name, { meaning }]) => [
        name,
        { post: callbackOf(name, meaning) },
      ]),
    ),
    components: {
      schemas: {
        RequestEnvelope: plain(requestEnvelopeSchema),
        CallbackEnvelope: plain(callbackEnvelopeSchema),
        ...Object.fromEntries(liveMethods.map((method) => [bodyName(method), plain(bodySchemas[method])])),
        ...Object.fromEntries(liveMethods.map((method) => [answerName(method), answerOf(method)])),
        PaymentResult: plain(paymentResultSchema),
        RefundResult: plain(refundResultSchema),
        Acknowledgement: acknowledgement,
        Failure: failureSchema,
      },
    },
  }
}

const sealing = {
  documentation: 'protocol.md',
  steps: [
    'Serialise the body once, to UTF-8 JSON text.',
    'String to sign: every field of the envelope but `sign`, optional ones with their defaults, sorted by name, joined as name=value with &; `body` is the JSON text.',
    '`sign`: RSASSA-PKCS1-v1_5 with SHA-256 over that string, in standard base64.',
    '`body`: base64 of a random nonce of 12 bytes, the AES-256-GCM ciphertext of the JSON text, and the tag of 16 bytes.',
  ],
  signature: 'RSASSA-PKCS1-v1_5 with SHA-256, keys of 2048 bits or more',
  encryption: 'AES-256-GCM',
  testVectors: 'test-vectors.json',
} as const

function operationOf(method: LiveMethod): object {
  const { title, about, exampleAnswer } = operations[method]
  const { body, envelope } = exampleOf(method)
  return {
    operationId: method,
    tags: [method.split('.')[1] ?? ''],
    summary: title,
    description: about,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            allOf: [ref('RequestEnvelope'), { type: 'object', properties: { method: { const: method } } }],
          },
          example: envelope,
          'x-sealed-body': { schema: ref(bodyName(method)), example: body },
        },
      },
    },
    responses: {
      200: {
        description: 'Done.',
        content: {
          'application/json': {
            schema: ref(answerName(method)),
            example: { code: successCode, msg: successMessage, data: exampleAnswer },
          },
        },
      },
      default: failureOf([method]),
    },
  }
}

/** The one path that takes every method; extensions have no other. */
function everyMethod(): object {
  return {
    operationId: 'gateway',
    tags: ['gateway'],
    summary: 'Every method, by the `method` of the envelope',
    description: `Extensions (${Object.keys(extensionMethods)
      .map((method) => `\`${method}\``)
      .join(', ')}) have no path of their own.`,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: ref('RequestEnvelope'),
          'x-sealed-body': {
            byMethod: Object.fromEntries(
              liveMethods.map((method) => [
                method,
                {
                  summary: operations[method].title,
                  description: operations[method].about,
                  schema: ref(bodyName(method)),
                  example: exampleOf(method).body,
                  answer: ref(answerName(method)),
                },
              ]),
            ),
          },
        },
      },
    },
    responses: {
      200: {
        description: 'Done.',
        content: {
          'application/json': { schema: { anyOf: liveMethods.map((method) => ref(answerName(method))) } },
        },
      },
      default: failureOf(liveMethods),
    },
  }
}

function callbackOf(name: string, meaning: string): object {
  return {
    operationId: name,
    tags: ['callbacks'],
    summary: meaning,
    description:
      'Posted to the order’s `callbackUrl`, signed with the gateway’s RSA key and encrypted with the merchant’s AES key. Answer HTTP 200 with the acknowledgement; anything else is retried.',
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            allOf: [ref('CallbackEnvelope'), { type: 'object', properties: { eventName: { const: name } } }],
          },
          'x-sealed-body': { schema: ref(name in refundEvents ? 'RefundResult' : 'PaymentResult') },
        },
      },
    },
    responses: {
      200: { description: 'Taken.', content: { 'application/json': { schema: ref('Acknowledgement') } } },
    },
  }
}

const acknowledgement = {
  type: 'object',
  required: ['code'],
  properties: { code: { type: 'integer', const: successCode }, msg: { type: 'string' } },
} as const

const failureSchema = {
  type: 'object',
  required: ['code', 'msg', 'data'],
  properties: {
    code: { type: 'integer', enum: Object.values(failures).map(({ code }) => code) },
    msg: { type: 'string', description: 'What to change, in plain words.' },
    data: {
      type: 'object',
      required: ['requestId'],
      properties: {
        requestId: { type: 'string', description: 'Find the request in the log by this ID.' },
        field: { type: 'string', description: 'The invalid field, if any.' },
      },
    },
  },
} as const

function failureOf(methods: readonly LiveMethod[]): object {
  const names = new Set([...sharedFailures, ...methods.flatMap((method) => operations[method].failures)])
  const codes = [...names].map((name) => failures[name].code).sort((a, b) => a - b)
  return {
    description: `What went wrong: ${codes.map((code) => `${code} (HTTP ${httpStatusOf(code)})`).join(', ')}.`,
    content: { 'application/json': { schema: ref('Failure') } },
  }
}

/** A later version may answer more: clients must not refuse that. */
function answerOf(method: LiveMethod): object {
  return {
    type: 'object',
    required: ['code', 'msg', 'data'],
    properties: {
      code: { type: 'integer', const: successCode },
      msg: { type: 'string', const: successMessage },
      data: plain(operations[method].answerSchema),
    },
  }
}

function ref(name: string): object {
  return { $ref: `#/components/schemas/${name}` }
}

/** Such as `TradeCreateBody`. */
function bodyName(method: LiveMethod): string {
  return `${nameOf(method)}Body`
}

function answerName(method: LiveMethod): string {
  return `${nameOf(method)}Answer`
}

function nameOf(method: LiveMethod): string {
  const [, ...parts] = method.split('.')
  return parts.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join('')
}

/** As plain JSON schema: what our checks are told by words is said by words here, and lengths as such. */
function plain(schema: TSchema): object {
  const {
    properties,
    items,
    typeName: _type,
    expected: _expected,
    ...rest
  } = schema as Record<string, unknown>
  const { expected, description } = notesOf(schema)
  const [, min, max] = /^text of (?:at most |(\d+) to )?(\d+) characters/.exec(expected ?? '') ?? []
  return {
    ...rest,
    ...(expected && { description: [description, `Expected: ${expected}.`].filter(Boolean).join(' ') }),
    ...(min !== undefined && { minLength: Number(min) }),
    ...(max !== undefined && { maxLength: Number(max) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties as Record<string, TSchema>).map(([name, field]) => [name, plain(field)]),
      ),
    }),
    // Safe: a list of ours has one kind of item.
    ...(items !== undefined && { items: plain(items as TSchema) }),
  }
}
