// Requests to the fake of Stripe: forms, checked by the parameters that the pinned SDK declares.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { FakeReply } from '../../kit/test/fake-provider.ts'

/** A tree of form fields: `a[b][0]=c` is `{ a: { b: { 0: 'c' } } }`. */
export type Form = { [name: string]: string | Form }

export class Invalid extends Error {
  readonly code: string
  constructor(message: string, code = 'parameter_invalid') {
    super(message)
    this.code = code
  }
}

/** The parameters that the pinned SDK declares, which its authors generate from Stripe's OpenAPI file. */
export const declared = readDeclared()

function readDeclared() {
  // The main file of the package is cjs/stripe.cjs.node.js.
  const folder = join(createRequire(import.meta.url).resolve('stripe'), '../resources')
  const sessions = readFileSync(join(folder, 'Checkout/Sessions.d.ts'), 'utf8')
  const refunds = readFileSync(join(folder, 'Refunds.d.ts'), 'utf8')
  const intents = readFileSync(join(folder, 'PaymentIntents.d.ts'), 'utf8')
  const disputes = readFileSync(join(folder, 'Disputes.d.ts'), 'utf8')
  const files = readFileSync(join(folder, 'Files.d.ts'), 'utf8')
  const locales = /type Locale = ([^;]+);/.exec(
    sessions.slice(sessions.indexOf('namespace SessionCreateParams')),
  )?.[1]
  return {
    session: fieldsOf(sessions, 'SessionCreateParams'),
    lineItem: fieldsOf(sessions, 'LineItem'),
    priceData: fieldsOf(sessions, 'PriceData'),
    productData: fieldsOf(sessions, 'ProductData'),
    paymentIntentData: fieldsOf(sessions, 'PaymentIntentData'),
    refund: fieldsOf(refunds, 'RefundCreateParams'),
    capture: fieldsOf(intents, 'PaymentIntentCaptureParams'),
    intentCancel: fieldsOf(intents, 'PaymentIntentCancelParams'),
    dispute: fieldsOf(disputes, 'DisputeUpdateParams'),
    disputeClose: fieldsOf(disputes, 'DisputeCloseParams'),
    evidence: fieldsOf(disputes.slice(disputes.indexOf('namespace DisputeUpdateParams')), 'Evidence'),
    file: fieldsOf(files, 'FileCreateParams'),
    locales: new Set([...(locales ?? '').matchAll(/'([^']+)'/g)].map(([, locale]) => locale)),
  }
}

function fieldsOf(declarations: string, name: string): ReadonlySet<string> {
  const [, indent = '', body = ''] =
    new RegExp(`\\n( *)(?:export )?interface ${name} \\{\\n([\\s\\S]*?)\\n\\1\\}`).exec(declarations) ?? []
  const fields = [...body.matchAll(new RegExp(`^${indent} {4}(\\w+)\\??:`, 'gm'))].map(
    ([, field = '']) => field,
  )
  if (fields.length === 0) throw new Error(`the SDK declares no ${name}`)
  return new Set(fields)
}

export function checkParameters(form: Form, allowed: ReadonlySet<string>, where: string): void {
  for (const name of Object.keys(form))
    if (!allowed.has(name))
      throw new Invalid(`Received unknown parameter: ${where}${name}`, 'parameter_unknown')
}

export function formOf(body: string): Form {
  const form: Form = {}
  for (const [name, value] of new URLSearchParams(body)) {
    const path = name.split(/[[\]]+/).filter((part) => part !== '')
    let at = form
    for (const part of path.slice(0, -1)) {
      const next = at[part]
      if (typeof next === 'object') at = next
      else {
        const made: Form = {}
        at[part] = made
        at = made
      }
    }
    at[path.at(-1) ?? ''] = value
  }
  return form
}

export function tree(form: Form, name: string): Form {
  const value = form[name]
  if (typeof value !== 'object') throw new Invalid(`Missing required param: ${name}.`, 'parameter_missing')
  return value
}

export function text(form: Form, name: string): string {
  const value = form[name]
  if (typeof value !== 'string') throw new Invalid(`Missing required param: ${name}.`, 'parameter_missing')
  return value
}

export function wholeNumber(form: Form, name: string): number {
  const value = text(form, name)
  if (!/^\d{1,12}$/.test(value)) throw new Invalid(`Invalid integer: ${value}`)
  return Number(value)
}

export function found<Kept>(kept: ReadonlyMap<string, Kept>, id: string): Kept {
  const value = kept.get(id)
  if (!value) throw new Invalid(`No such object: ${id}`, 'resource_missing')
  return value
}

export const ok = (value: object): FakeReply => ({ status: 200, body: JSON.stringify(value) })
export const errorReply = (status: number, message: string, more: object = {}): FakeReply => ({
  status,
  body: JSON.stringify({ error: { type: 'invalid_request_error', message, ...more } }),
})
