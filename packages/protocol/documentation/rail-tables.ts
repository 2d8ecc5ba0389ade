// The tables of docs/rails.md, made from the catalogs and schemas of the protocol of rails.
import type { TSchema } from 'typebox'
import {
  railPaymentAnswerSchema,
  railPaymentStatuses,
  railRefundAnswerSchema,
  railRefundStatuses,
} from '../src/rail/answers.ts'
import { captureMessages } from '../src/rail/captures.ts'
import { disputeAnswerSchema, disputeFields, disputeMessages } from '../src/rail/disputes.ts'
import { railMessages } from '../src/rail/messages.ts'
import { railNotifications } from '../src/rail/notifications.ts'
import { settlementAnswerSchema } from '../src/rail/settlement-report.ts'
import { fieldTable, inside, type Tables, table } from './tables.ts'

export const railTables: Tables = {
  'rail messages': messageTable,
  'payment start': () => fieldTable(railMessages['payment.start'].schema),
  'refund start': () => fieldTable(railMessages['refund.start'].schema),
  'payment answer': () => fieldTable(railPaymentAnswerSchema),
  'payment statuses': () => meaningTable(railPaymentStatuses),
  'next action': () => fieldTable(inside(railPaymentAnswerSchema, 'nextAction')),
  instruction: () => fieldTable(inside(railPaymentAnswerSchema, 'nextAction', 'lines')),
  'refund answer': () => fieldTable(railRefundAnswerSchema),
  'refund statuses': () => meaningTable(railRefundStatuses),
  'rail notifications': notificationTable,
  'capture messages': captureTable,
  'dispute messages': disputeTable,
  'dispute answer': () => fieldTable(disputeAnswerSchema),
  'settlement line': () => fieldTable(inside(settlementAnswerSchema, 'lines')),
}

function messageTable(): string {
  const rows = Object.entries(railMessages).map(([type, { meaning, schema, answers }]) => [
    code(type),
    meaning,
    fieldsOf(schema),
    answers.map(code).join(', '),
  ])
  return table(['`type`', 'Meaning', 'Carries', 'Response `status`'], rows)
}

function captureTable(): string {
  const rows = Object.entries(captureMessages).map(([type, { meaning, schema, answers }]) => [
    code(type),
    meaning,
    namesOf(schema).map(code).join(', '),
    answers.map(code).join(', '),
  ])
  return table(['`type`', 'Meaning', 'Carries', 'Response `status`'], rows)
}

function disputeTable(): string {
  const rows = Object.entries(disputeMessages).map(([type, { meaning, schema }]) => [
    code(type),
    meaning,
    namesOf(schema)
      .filter((name) => !Object.hasOwn(disputeFields, name))
      .map(code)
      .join(', ') || '–',
  ])
  return table(['`type`', 'Meaning', 'Carries also'], rows)
}

function notificationTable(): string {
  const meanings = new Set(Object.values(railNotifications).map(({ meaning }) => meaning))
  const rows = [...meanings].map((meaning) => {
    const alike = Object.entries(railNotifications).filter((entry) => entry[1].meaning === meaning)
    return [
      alike.map(([type]) => code(type)).join(', '),
      alike[0] ? fieldsOf(alike[0][1].schema) : '',
      meaning,
    ]
  })
  return table(['`type`', 'Carries', 'Result'], rows)
}

function meaningTable(meanings: Readonly<Record<string, string>>): string {
  return table(
    ['Status', 'Meaning'],
    Object.entries(meanings).map(([status, meaning]) => [code(status), meaning]),
  )
}

/** Named one by one where they are few; the table of its own says the rest. */
function fieldsOf(schema: TSchema): string {
  const names = namesOf(schema)
  return names.length > 2 ? 'see below' : names.map(code).join(', ')
}

function namesOf(schema: TSchema): string[] {
  const { properties } = schema as unknown as { properties: Record<string, TSchema> }
  return Object.keys(properties).filter((name) => name !== 'type')
}

function code(text: string): string {
  return `\`${text}\``
}
