// The tables of docs/protocol.md and of the API reference, from the data that the code works by. docs/protocol.md has each
// of its tables between two marks; scripts/documentation.ts fills them, and a test compares the page with the data.
import type { TSchema } from 'typebox'
import { codesWithoutMinorUnit, currencies, currenciesAsOf } from '../src/currencies.ts'
import { callbackEnvelopeSchema, requestEnvelopeSchema } from '../src/envelope.ts'
import { orderEvents, refundEvents } from '../src/events.ts'
import { notesOf } from '../src/fields.ts'
import * as answers from '../src/messages/answers.ts'
import * as bills from '../src/messages/bills.ts'
import * as captures from '../src/messages/captures.ts'
import { createBodySchema } from '../src/messages/create-body.ts'
import * as links from '../src/messages/links.ts'
import * as orders from '../src/messages/order-list.ts'
import * as requests from '../src/messages/requests.ts'
import { paymentResultSchema, refundResultSchema } from '../src/messages/results.ts'
import * as listen from '../src/messages/sandbox-listen.ts'
import * as logged from '../src/messages/sandbox-requests.ts'
import { scanAnswerSchema, scanBodySchema } from '../src/messages/scans.ts'
import { tradeMethods } from '../src/methods.ts'
import { nextOrderStatuses, nextRefundStatuses, orderStatuses, refundStatuses } from '../src/statuses.ts'

export type Tables = Readonly<Record<string, () => string>>

export const tables: Tables = {
  methods: () => methodTable(tradeMethods),
  'request envelope': () => fieldTable(requestEnvelopeSchema),
  'callback envelope': () => fieldTable(callbackEnvelopeSchema),
  answer: () => fieldTable(answers.answerSchema),
  'create body': () => fieldTable(createBodySchema),
  'order object': () => fieldTable(inside(createBodySchema, 'order')),
  'goods object': () => fieldTable(inside(createBodySchema, 'order', 'goods')),
  'shipping object': () => fieldTable(inside(createBodySchema, 'order', 'shipping')),
  'create answer': () => answerTable(answers.createAnswerSchema),
  'ignored field': () => answerTable(inside(answers.createAnswerSchema, 'ignoredFields')),
  'query body': () => fieldTable(requests.queryBodySchema),
  'query answer': () => answerTable(answers.queryAnswerSchema),
  'refund in a query answer': () => answerTable(inside(answers.queryAnswerSchema, 'refunds')),
  'cancel body': () => fieldTable(requests.cancelBodySchema),
  'cancel answer': () => answerTable(answers.cancelAnswerSchema),
  'refund body': () => fieldTable(requests.refundBodySchema),
  'refund answer': () => answerTable(answers.refundAnswerSchema),
  'callback body': () => fieldTable(requests.callbackBodySchema),
  'callback answer': () => answerTable(answers.callbackAnswerSchema),
  'order list body': () => fieldTable(orders.orderListBodySchema),
  'order list answer': () => answerTable(orders.orderListAnswerSchema),
  'capture body': () => fieldTable(captures.captureBodySchema),
  'capture answer': () => answerTable(captures.captureAnswerSchema),
  'scan body': () => fieldTable(scanBodySchema),
  'scan answer': () => answerTable(scanAnswerSchema),
  'release body': () => fieldTable(captures.releaseBodySchema),
  'release answer': () => answerTable(captures.releaseAnswerSchema),
  'authorization object': () => answerTable(inside(answers.queryAnswerSchema, 'authorization')),
  'capture in a query answer': () =>
    answerTable(inside(answers.queryAnswerSchema, 'authorization', 'captures')),
  'bill body': () => fieldTable(bills.billBodySchema),
  'bill answer': () => answerTable(bills.billAnswerSchema),
  'totals of a bill': () => answerTable(inside(bills.billAnswerSchema, 'totals')),
  'link create body': () => fieldTable(links.linkCreateBodySchema),
  'link query body': () => fieldTable(links.linkQueryBodySchema),
  'link close body': () => fieldTable(links.linkCloseBodySchema),
  'link answer': () => answerTable(links.linkAnswerSchema),
  'link query answer': () => answerTable(links.linkQueryAnswerSchema),
  'order of a link': () => answerTable(inside(links.linkQueryAnswerSchema, 'orders')),
  'sandbox pay body': () => fieldTable(requests.sandboxPayBodySchema),
  'sandbox advance body': () => fieldTable(requests.sandboxAdvanceBodySchema),
  'sandbox listen body': () => fieldTable(listen.sandboxListenBodySchema),
  'sandbox listen answer': () => answerTable(listen.sandboxListenAnswerSchema),
  'listened callback': () => answerTable(inside(listen.sandboxListenAnswerSchema, 'callbacks')),
  'sandbox acknowledge body': () => fieldTable(listen.sandboxAcknowledgeBodySchema),
  'sandbox acknowledge answer': () => answerTable(listen.sandboxAcknowledgeAnswerSchema),
  'sandbox requests body': () => fieldTable(logged.sandboxRequestsBodySchema),
  'sandbox requests answer': () => answerTable(logged.sandboxRequestsAnswerSchema),
  'logged request': () => answerTable(inside(logged.sandboxRequestsAnswerSchema, 'requests')),
  'sandbox answer': () => answerTable(answers.sandboxAnswerSchema),
  'payment result': () => answerTable(paymentResultSchema),
  'refund result': () => answerTable(refundResultSchema),
  'order statuses': () => statusTable(orderStatuses, nextOrderStatuses),
  'refund statuses': () => statusTable(refundStatuses, nextRefundStatuses),
  events: eventTable,
  currencies: currencyTable,
}

const marked = /<!-- table: ([a-z ]+) -->\n[\s\S]*?<!-- end of table -->/g

/** The page with every marked table made anew. */
export function fillTables(page: string, from: Tables = tables): string {
  return page.replace(marked, (_whole, name: string) => {
    const make = from[name]
    if (make === undefined) throw new Error(`the page asks for a table "${name}" that does not exist`)
    return `<!-- table: ${name} -->\n\n${make()}\n\n<!-- end of table -->`
  })
}

export function tableNamesIn(page: string): string[] {
  return [...page.matchAll(marked)].map(([, name]) => name ?? '')
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
}

export function fieldTable(schema: TSchema): string {
  return tableWith(schema, wordsOf)
}

/** A reader of a response does not need the lengths that the gateway keeps. */
function answerTable(schema: TSchema): string {
  return tableWith(schema, (field) =>
    wordsOf(field).replace(
      / (?:[\d,]+ to [\d,]+ characters|At most [\d,]+ characters|Zero or more)(?:; may have line breaks and tabs)?\.$/,
      '',
    ),
  )
}

function tableWith(schema: TSchema, words: (field: TSchema) => string): string {
  const { properties, required = [] } = schema as unknown as ObjectSchema
  const rows = Object.entries(properties).map(([name, field]) => {
    const { typeName } = notesOf(field)
    return [`\`${name}\``, required.includes(name) ? typeName : `${typeName}, optional`, words(field)]
  })
  return table(['Field', 'Type', 'Description'], rows)
}

/** What a field is for and what it must be, in a sentence or two. */
export function wordsOf(field: TSchema): string {
  const { expected, description } = notesOf(field)
  return [description, ruleOf(expected)].filter((part) => part !== '').join(' ')
}

/** What the page says once for all fields, and what the type says already, is left out. */
function ruleOf(expected: string): string {
  if (['an object', 'a list', 'text'].includes(expected)) return ''
  if (expected.startsWith('`')) return `Allowed: ${expected}.`
  if (expected.startsWith('one of ')) return `Allowed: ${expected.slice('one of '.length)}.`
  return `${capital(shortened(expected))}.`
}

/** Without words that the type or the page says. */
function shortened(expected: string): string {
  return expected
    .replace(/^(?:text|an (?:http or https )?address) of /, '')
    .replace(/^(?:13 digits: )?milliseconds since 1970-01-01 UTC(?:, 13 digits)?$/, 'in milliseconds')
    .replace(/^an amount, zero or more$/, 'zero or more')
    .replace(', no control characters except', '; may have')
    .replace(', no control characters', '')
}

/** The schema of an object further in; of a list, that of its items. */
export function inside(schema: TSchema, ...path: readonly string[]): TSchema {
  return path.reduce((at, name) => {
    const field = (at as unknown as ObjectSchema).properties[name] as TSchema & { items?: TSchema }
    return field.items ?? field
  }, schema)
}

function methodTable(methods: Readonly<Record<string, { path: string; meaning: string }>>): string {
  const rows = Object.entries(methods).map(([name, { path, meaning }]) => [
    `\`${name}\``,
    `\`POST ${path}\``,
    meaning,
  ])
  return table(['method', 'Path', 'Meaning'], rows)
}

function statusTable(
  statuses: Readonly<Record<string, { meaning: string; delivery: string }>>,
  next: Readonly<Record<string, readonly string[]>>,
): string {
  const rows = Object.entries(statuses).map(([name, { meaning, delivery }]) => {
    const following = (next[name] ?? []).map((status) => `\`${status}\``).join(', ')
    return [`\`${name}\``, meaning, following === '' ? 'final' : following, delivery]
  })
  return table(['Status', 'Meaning', 'Next', 'Reported by'], rows)
}

function eventTable(): string {
  const rows = [
    ...Object.entries(orderEvents).map(([name, event]) => [name, event, 'payment result'] as const),
    ...Object.entries(refundEvents).map(([name, event]) => [name, event, 'refund result'] as const),
  ].map(([name, { statuses, meaning }, result]) => [
    `\`${name}\``,
    meaning,
    statuses.map((status) => `\`${status}\``).join(', '),
    result,
  ])
  return table(['eventName', 'Meaning', 'Status in the body', 'Body'], rows)
}

function currencyTable(): string {
  const byDigits = Object.groupBy(Object.entries(currencies), ([, { digits }]) => digits)
  const rows = Object.entries(byDigits).map(([digits, entries = []]) => [
    digits,
    entries.map(([code]) => code).join(' '),
  ])
  const withoutUnit = [...codesWithoutMinorUnit].join(' ')
  return table([`Decimal places (${currenciesAsOf})`, 'Currencies'], [...rows, ['not accepted', withoutUnit]])
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
