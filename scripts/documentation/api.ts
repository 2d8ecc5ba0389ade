// docs/api.md: every operation with its fields, failures and a whole example, from the schemas, the catalogue and the
// test vectors.
import { readFileSync } from 'node:fs'
import { table, tables } from '../../packages/protocol/documentation/tables.ts'
import { type FailureName, failures, httpStatusOf, successAnswer } from '../../packages/protocol/src/index.ts'
import * as limits from '../../packages/protocol/src/limits.ts'
import {
  extensionMethods,
  gatewayPath,
  type Method,
  methods,
  pathPrefix,
  sandboxMethods,
  tradeMethods,
} from '../../packages/protocol/src/methods.ts'
import { type OperationNotes, operations, sharedFailures } from './operations.ts'

interface Vector {
  readonly name: string
  readonly body: string
  readonly stringToSign: string
  readonly envelope: Readonly<Record<string, unknown>>
}

const vectors = JSON.parse(
  readFileSync(new URL('../../docs/test-vectors.json', import.meta.url), 'utf8'),
) as { readonly requests: readonly Vector[]; readonly callbacks: readonly Vector[] }

export function apiPage(): string {
  return [
    '# API reference',
    '',
    'Every operation, field, limit and failure. This page is made from the schemas that the gateway works by (`node scripts/documentation.ts`), and its examples are those of [test-vectors.json](test-vectors.json): with the keys there you can make each of them again, to the letter. How to sign and seal, and why it is so, is in [the protocol](protocol.md). The same as OpenAPI 3.1: [openapi-merchant.json](openapi-merchant.json).',
    '',
    '## Every request',
    '',
    `\`POST\` with \`Content-Type: application/json\` to the operation’s own path, to that path behind \`${pathPrefix}\`, or to \`${gatewayPath}\`, which takes them all. The envelope:`,
    '',
    tableOf('request envelope'),
    '',
    'The answer is plain JSON, HTTP 200 for success:',
    '',
    tableOf('answer'),
    '',
    'Each ignored field in the `ignoredFields` of a success:',
    '',
    tableOf('ignored field'),
    '',
    'These failures can meet any operation:',
    '',
    failureTable(sharedFailures),
    '',
    ...Object.keys(tradeMethods).flatMap((method) => operationPart(method as Method)),
    '## Callbacks that you receive',
    '',
    'The gateway posts this envelope to the order’s `callbackUrl`. [The guide](callbacks.md) says what to do with it.',
    '',
    tableOf('callback envelope'),
    '',
    tableOf('events'),
    '',
    'The body of order events:',
    '',
    tableOf('payment result'),
    '',
    'The body of refund events:',
    '',
    tableOf('refund result'),
    '',
    ...examplePart(vectorNamed(vectors.callbacks, 'payment.order.success')),
    '## Extensions',
    '',
    `Operations that the interface does not have, at \`${gatewayPath}\` alone. The [guide](extensions.md) says what each is for. Those named \`service.sandbox\` exist in the sandbox alone.`,
    '',
    ...Object.keys(extensionMethods).flatMap((method) => operationPart(method as Method)),
    '',
    ...Object.keys(sandboxMethods).flatMap((method) => operationPart(method as Method)),
    '## Statuses',
    '',
    tableOf('order statuses'),
    '',
    tableOf('refund statuses'),
    '',
    '## Limits',
    '',
    limitTable(),
    '',
    '## Failures',
    '',
    'A failure answers `{code, msg, data}`: decide by `code`; `msg` says in plain words what to change; `data.field` names the field at fault, and `data.requestId` is what to quote to the operator.',
    '',
    tableOf('codes'),
    '',
    '## Currencies',
    '',
    tableOf('currencies'),
    '',
  ].join('\n')
}

function operationPart(method: Method): string[] {
  const notes = operations[method]
  const { path } = methods[method]
  return [
    `## ${notes.title}`,
    '',
    `\`${method}\` at \`POST ${path}\``,
    '',
    notes.about,
    '',
    ...notes.bodyTables.flatMap((name) => [`**${capital(name)}**`, '', tableOf(name), '']),
    ...notes.answerTables.flatMap((name) => [`**${capital(name)}**`, '', tableOf(name), '']),
    `**Failures of its own**`,
    '',
    failureTable(notes.failures),
    '',
    ...examplePart(vectorNamed(vectors.requests, notes.example)),
    ...answerPart(notes),
  ]
}

function examplePart({ body, stringToSign, envelope }: Vector): string[] {
  return [
    '**Example: the plain body**, laid out for reading (what is signed and encrypted is one line, as in the string below)',
    '',
    block('json', JSON.stringify(JSON.parse(body), null, 2)),
    '**The string to sign**',
    '',
    block('text', stringToSign),
    '**The sealed envelope**, as it is posted',
    '',
    block('json', JSON.stringify(envelope, null, 2)),
  ]
}

function answerPart({ exampleAnswer }: OperationNotes): string[] {
  return [
    '**The answer**',
    '',
    block('json', JSON.stringify(successAnswer(exampleAnswer), null, 2), 'answer'),
  ]
}

function block(language: string, text: string, how = 'vectors'): string {
  return `<!-- run: ${how} -->\n\`\`\`${language}\n${text}\n\`\`\`\n`
}

function failureTable(names: readonly FailureName[]): string {
  return table(
    ['code', 'HTTP', 'Meaning'],
    names.map((name) => {
      const { code, meaning } = failures[name]
      return [`${code}`, `${httpStatusOf(code)}`, meaning]
    }),
  )
}

function limitTable(): string {
  const minutes = (durationMs: number) => `${durationMs / 60_000} minutes`
  const characters = (count: number) => `${count} characters`
  return table(
    ['What', 'Limit'],
    [
      ['A request or a callback', `${limits.maxEnvelopeBytes / 1024} KiB`],
      ['Objects and lists inside each other', `${limits.maxJsonDepth}`],
      [
        'Commas and colons outside of strings',
        `${limits.maxJsonMarks} in a body, ${limits.maxEnvelopeMarks} in an envelope`,
      ],
      ['`timestamp` from the gateway’s clock', minutes(limits.timestampWindowMs)],
      [
        '`paymentExpiryTime` after `paymentTime`',
        `${minutes(limits.minExpiryMs)} to ${limits.maxExpiryMs / 3_600_000} hours`,
      ],
      ['`paymentTime` ahead of the gateway’s clock', minutes(limits.maxPaymentTimeAheadMs)],
      ['`goods`', `1 to ${limits.maxGoods}`],
      ['`goodsQuantity`', `${limits.maxGoodsQuantity}, ${limits.goodsQuantityDecimals} decimal places`],
      ['`orderNo`, `referRefundNo`, `linkNo`, `referenceGoodsId`', characters(limits.maxOrderNoLength)],
      ['`goodsName`, `goodsDesc`, `orderDescription`, `refundReason`', characters(limits.maxGoodsNameLength)],
      [
        '`shipping.name`, `shipping.address`',
        `${limits.maxShippingNameLength} and ${limits.maxShippingAddressLength} characters`,
      ],
      ['`callbackUrl`, `redirectUrl`, `cancelUrl`', characters(limits.maxUrlLength)],
      ['`paymentId`, `refundId`, `linkId`', characters(limits.maxPaymentIdLength)],
      ['`transactionId`', characters(limits.maxTransactionIdLength)],
      ['An amount', '10^15, and 10^18 of the smallest unit'],
      ['An amount as a JSON number', `${limits.maxNumberDigits} significant digits; more as a string`],
      ['RSA keys', `${limits.minRsaBits} to ${limits.maxRsaBits} bits`],
      ['Live keys of a kind', `${limits.maxLiveKeys}`],
      ['`service.sandbox.advance`', `${limits.maxSandboxAdvanceMs / 86_400_000} days`],
      ['`service.sandbox.listen` waits', `${limits.maxListenWaitMs / 1_000} seconds`],
    ],
  )
}

function tableOf(name: string): string {
  const make = tables[name]
  if (make === undefined) throw new Error(`there is no table "${name}"`)
  return make()
}

function vectorNamed(among: readonly Vector[], name: string): Vector {
  const vector = among.find((each) => each.name === name)
  if (vector === undefined) throw new Error(`there is no test vector "${name}"`)
  return vector
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
