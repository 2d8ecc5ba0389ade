// The fields of an action's screen: which ones, in which sections, with their labels, hints and choices.
import {
  currencies,
  disputeEvents,
  isDisputeEventName,
  linkUses,
  orderEvents,
  refundEvents,
  type WebhookEventName,
  webhookEventNames,
} from '@tillgate/protocol'
import type { TSchema } from 'typebox'
import type { Action, PortalForm } from '../../actions/action.ts'
import { displayOf } from '../../actions/fields.ts'
import { memberRoles } from '../../core/authority/rules/roles.ts'
import { endpointFormats } from '../../core/callbacks/rules/endpoint.ts'
import { fieldOf } from '../kit/forms/form-fields.ts'
import { errorOf } from '../kit/forms/refused-form.ts'
import { type Html, html } from '../kit/html.ts'
import { nameOfCurrency } from '../kit/languages/currency-names.ts'
import { fillText } from '../kit/languages/words.ts'
import type { Values } from './action-values.ts'
import type { Language } from './languages.ts'
import type { Visit } from './portal.ts'
import type { ActionName, FieldName, Words } from './words.ts'

export interface Screen {
  readonly action: Action
  readonly portalForm: PortalForm
}

type NamedField = [name: string, schema: TSchema]

export function shownFields(
  { input }: Action,
  { fields, hidden = [], fixed = {} }: PortalForm,
): NamedField[] {
  const all = Object.entries(input?.properties ?? {})
  if (fields) return all.filter(([name]) => fields.includes(name))
  return all.filter(([name]) => !hidden.includes(name) && !(name in fixed))
}

export function hasFile(fields: readonly NamedField[]): boolean {
  return fields.some(([, schema]) => isFileField(displayOf(schema).kind))
}

function isFileField(kind: string | undefined): boolean {
  return kind === 'picture' || kind === 'document'
}

interface Section {
  readonly heading: 'paidFor' | 'price' | 'validity'
  readonly text?: keyof Words['sections']
  /** The fields of a row stand side by side. */
  readonly rows: readonly (readonly string[])[]
}

/** Forms that are long enough for sections. */
const sectionsOf: Readonly<Partial<Record<ActionName, readonly Section[]>>> = {
  newLink: [
    { heading: 'paidFor', rows: [['title']] },
    {
      heading: 'price',
      text: 'priceText',
      rows: [
        ['currency', 'amount'],
        ['leastAmount', 'mostAmount'],
      ],
    },
    { heading: 'validity', rows: [['uses', 'expiresAtMs']] },
  ],
}

/** The inputs of the screen, in the sections of its form. */
export function inputsOf(
  visit: Visit,
  { fields, ...given }: Screen & { readonly fields: readonly NamedField[]; readonly values: Values },
): Html {
  const input = ([name, schema]: NamedField) => inputOf(visit, { name, schema, ...given })
  // Safe: a test checks that every name has texts.
  const sections = sectionsOf[given.portalForm.name as ActionName]
  if (!sections) return html`${fields.map(input)}`
  const { words } = visit.language
  return html`${sections.map(
    ({ heading, text, rows }) =>
      html`<section class="stack"><h2>${words.sections[heading]}</h2>${text && html`<p class="quiet small">${words.sections[text]}</p>`}${rows.map(
        (names) =>
          html`<div class="row">${names.map((each) => fields.filter(([name]) => name === each).map(input))}</div>`,
      )}</section>`,
  )}`
}

function inputOf(
  visit: Visit,
  field: Screen & { readonly name: string; readonly schema: TSchema; readonly values: Values },
): Html {
  const { name, schema, action, portalForm, values } = field
  const { words } = visit.language
  const { kind, placeholder } = displayOf(schema)
  const { maxLength } = schema as { maxLength?: number }
  const isRequired = Boolean(action.input?.required?.includes(name) || portalForm.required?.includes(name))
  // Safe: a test checks that every field has texts.
  const label = words.fields[name as FieldName]
  return fieldOf({
    name,
    label: name === 'reason' && !isRequired ? `${label} (${words.common.optional})` : label,
    hint:
      values['most'] !== undefined && /amount$/i.test(name)
        ? fillText(words.orders.atMost, { amount: values['most'] })
        : words.hints[name as keyof Words['hints']],
    value: visit.refused?.typed.get(name) ?? values[name],
    isRequired,
    kind,
    choices: choicesOf(name, visit.language, values),
    ticked: tickedIn.has(name)
      ? (visit.refused?.typed.getAll(name) ?? values[name]?.split(',') ?? [])
      : undefined,
    attributes: html`${/[aA]mount$/.test(name) && html` inputmode="decimal"`}${name === 'email' && html` inputmode="email"`}${
      maxLength !== undefined && !isFileField(kind) && html` maxlength="${maxLength}"`
    }${placeholder !== undefined && !isFileField(kind) && html` placeholder="${placeholder}"`}${kind !== 'long' && html` autocomplete="off" autocapitalize="none" spellcheck="false"`}`,
    error: errorOf(visit, name),
  })
}

/** Fields with several choices. */
export const tickedIn: ReadonlySet<string> = new Set(['events'])

type Choice = readonly [value: string, label: string]

function choicesOf(name: string, language: Language, values: Values): readonly Choice[] | undefined {
  const { words } = language
  const { endpoints, keys, roles, roleMeanings } = words
  switch (name) {
    case 'currency':
      return currencyChoices(language, values)
    case 'role':
      return memberRoles.toReversed().map((each) => [each, `${roles[each]}: ${roleMeanings[each]}`])
    case 'uses':
      return linkUses.toReversed().map((each) => [each, words.links.uses[each]])
    case 'format':
      return endpointFormats.map((each) => [each, endpoints[each]])
    case 'endOthers':
      return [
        ['false', endpoints.keepOthers],
        ['true', endpoints.endOthers],
      ]
    case 'confirm':
      return [
        ['false', keys.keepKey],
        ['true', keys.revokeAnyway],
      ]
    case 'event':
      return webhookEventNames.map((each) => [each, `${each} (${statusWords(each, words)})`])
    case 'events':
      return webhookEventNames.map((each) => [each, statusWords(each, words)])
    default:
      return undefined
  }
}

/** The shop's own currencies first. Without one, the member chooses. */
function currencyChoices({ tag }: Language, { ownCurrencies }: Values): readonly Choice[] {
  const own = ownCurrencies?.split(',').filter(Boolean) ?? []
  const all = [...own, ...Object.keys(currencies).filter((code) => !own.includes(code))]
  const offered = all.map((code): Choice => [code, `${code} – ${nameOfCurrency(code, tag)}`])
  return own.length > 0 ? offered : [['', '…'], ...offered]
}

function statusWords(name: WebhookEventName, words: Words): string {
  if (isDisputeEventName(name)) return words.disputes.statuses[disputeEvents[name].statuses[0]]
  const { statuses } = { ...orderEvents, ...refundEvents }[name]
  return statuses.map((status) => words.status[status]).join(', ')
}
