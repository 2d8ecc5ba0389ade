// The portal's view of the actions: each on a separate screen that explains its effect, and runs it when the form is
// sent. The texts are the portal's, and the merchant always comes from the session.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import {
  type EventName,
  eventNames,
  linkUses,
  makeRefundId,
  orderEvents,
  refundEvents,
  toMinorUnits,
  uuidPattern,
} from '@tillgate/protocol'
import type { TSchema } from 'typebox'
import type { Action, PortalForm, RawInput } from '../../actions/action.ts'
import { displayOf } from '../../actions/fields.ts'
import { leftOf } from '../../actions/orders/order-actions.ts'
import { readInput, typedIn } from '../../actions/read-input.ts'
import { runForMember } from '../../actions/running/run-action.ts'
import { memberRoles } from '../../core/authority/rules/roles.ts'
import { endpointFormats } from '../../core/callbacks/rules/endpoint.ts'
import { type Breakage, breakageOf } from '../../core/merchants/rules/key-use.ts'
import { confirm, confirmFieldNames, confirmFields } from '../kit/accounts/confirm.ts'
import { fieldOf } from '../kit/forms/form-fields.ts'
import { carried, errorOf } from '../kit/forms/refused-form.ts'
import type { SentForm } from '../kit/forms/uploads.ts'
import { type Content, type Html, html } from '../kit/html.ts'
import { fill, fillText } from '../kit/languages/words.ts'
import { type TestAnswer, testEventPage } from './areas/test-event.ts'
import type { Language } from './languages.ts'
import { ago } from './parts.ts'
import { type Done, type PortalAct, type PortalPage, type PortalRoute, pathTo, type Visit } from './portal.ts'
import type { ActionName, FieldName, Words } from './words.ts'

/** Every action for members: its screen, and its effect when sent. */
export function actionScreens(catalog: readonly Action[]): readonly PortalRoute[] {
  return catalog.flatMap((action) =>
    action.portal.flatMap((portalForm): PortalRoute[] => {
      const show = (visit: Visit) => screen(visit, { action, portalForm })
      const route: PortalAct = {
        path: portalForm.path,
        roles: portalForm.roles,
        fields: [
          ...shownFields(action, portalForm).map(([name]) => name),
          ...(portalForm.needsConfirmation ? confirmFieldNames : []),
        ],
        takesFile: hasPicture(shownFields(action, portalForm)),
        act: (visit, form, files) => doAction(visit, form, { action, portalForm, files }),
      }
      return [{ path: portalForm.path, roles: portalForm.roles, show }, route]
    }),
  )
}

interface Screen {
  readonly action: Action
  readonly portalForm: PortalForm
}

function shownFields(
  { input }: Action,
  { fields, hidden = [], fixed = {} }: PortalForm,
): [string, TSchema][] {
  const all = Object.entries(input?.properties ?? {})
  if (fields) return all.filter(([name]) => fields.includes(name))
  return all.filter(([name]) => !hidden.includes(name) && !(name in fixed))
}

function hasPicture(fields: readonly [string, TSchema][]): boolean {
  return fields.some(([, schema]) => displayOf(schema).kind === 'picture')
}

async function screen(visit: Visit, { action, portalForm }: Screen): Promise<PortalPage | undefined> {
  const { words } = visit.language
  // Safe: a test checks that every name has texts.
  const said = words.acts[portalForm.name as ActionName]
  const values = await valuesOf(visit, portalForm)
  if (!values) return undefined
  const warnings = await warningsOf(visit, portalForm)
  // Confirmation is needed only with a warning.
  const fields = shownFields(action, portalForm).filter(([name]) => name !== 'confirm' || warnings.length > 0)
  const isFile = hasPicture(fields)
  const isKey = portalForm.name === 'newRsaKey'
  return {
    title: said.title,
    area: areaOf(portalForm.page),
    ...(isKey && { withKeyScript: true }),
    content: html`<p>${said.explains}</p>
${warnings.map((text) => html`<p><strong>${text}</strong></p>`)}
<form method="post" action="${pathTo(portalForm.path, visit.params)}" class="stack card"${isFile && html` enctype="multipart/form-data"`}${isKey && html` id="key-form"`}>
${carried(visit)}
${isKey && keyMaker(visit.language)}
${portalForm.hidden?.map((name) => html`<input type="hidden" name="${name}" value="${values[name]}">`)}
${action.isOnce && html`<input type="hidden" name="formId" value="${randomUUID()}">`}
${fields.map(([name, schema]) => inputOf(visit, { name, schema, action, portalForm, values }))}
${portalForm.needsConfirmation && confirmFields(visit)}
<div class="acts"><button class="${portalForm.isDangerous ? 'danger' : 'primary'}">${said.title}</button>
<a class="button plain" href="${pathTo(portalForm.page, visit.params)}">${words.common.back}</a></div>
</form>`,
  }
}

/** Shown by the script; without it, a key is pasted. */
export function keyMaker({ words }: Language): Html {
  const { inBrowser, make, save, saved, paste } = words.keys
  return html`<div id="key-maker" hidden data-save="${save}" data-saved="${saved}"><p>${inBrowser}</p><p class="acts"><button type="button" id="make-pair">${make}</button></p><p role="status" id="key-progress"></p><p class="quiet">${paste}</p></div>`
}

/** What breaks if the action runs now. */
async function warningsOf(visit: Visit, { name }: PortalForm): Promise<readonly Content[]> {
  if (name !== 'revokeKey') return []
  const { keys } = await visit.operations.merchants.showMerchant(visit.context, visit.context.merchantId)
  const key = keys.find(
    ({ keyId, revokedAtMs }) => keyId === visit.params['keyId'] && revokedAtMs === undefined,
  )
  return key ? breakageOf(keys, key, visit.nowMs).map((each) => warningOf(visit, key.kind, each)) : []
}

function warningOf(visit: Visit, kind: 'aes' | 'rsa', breakage: Breakage): Content {
  const { onlyAesKey, onlyRsaKey, breaksCallbacks, breaksRequests } = visit.language.words.keys
  switch (breakage.kind) {
    case 'only_key':
      return kind === 'aes' ? onlyAesKey : onlyRsaKey
    case 'callbacks':
      return breaksCallbacks
    case 'requests':
      return fill(breaksRequests, { when: ago(breakage.lastUsedAtMs, visit) })
  }
}

/** The initial values of the screen; undefined if the subject does not belong to this merchant. */
async function valuesOf(
  { operations, context, params, nowMs, language }: Visit,
  { name }: PortalForm,
): Promise<Readonly<Record<string, string | undefined>> | undefined> {
  switch (name) {
    case 'refund':
    case 'cancel': {
      const found = await operations.showOrder(context, {
        merchantId: context.merchantId,
        paymentId: params['paymentId'] ?? '',
      })
      if (!found) return undefined
      const left = leftOf(found.order)
      const { currency } = found.order
      return {
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
      return { linkNo: `portal-${makeRefundId(nowMs, randomBytes)}`, uses: 'many' }
    case 'pauseLink':
    case 'resumeLink':
    case 'closeLink':
      return (
        (await operations.links.showOnPage(context, {
          merchantId: context.merchantId,
          linkId: params['linkId'] ?? '',
        })) && {}
      )
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

function inputOf(
  visit: Visit,
  field: Screen & { name: string; schema: TSchema; values: Readonly<Record<string, string | undefined>> },
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
        : undefined,
    value: visit.refused?.typed.get(name) ?? values[name],
    isRequired,
    kind,
    choices: choicesOf(name, words),
    ticked: tickedIn.has(name)
      ? (visit.refused?.typed.getAll(name) ?? values[name]?.split(',') ?? [])
      : undefined,
    attributes: html`${/[aA]mount$/.test(name) && html` inputmode="decimal"`}${name === 'email' && html` inputmode="email"`}${
      maxLength !== undefined && kind !== 'picture' && html` maxlength="${maxLength}"`
    }${placeholder !== undefined && kind !== 'picture' && html` placeholder="${placeholder}"`}${kind !== 'long' && html` autocomplete="off" autocapitalize="none" spellcheck="false"`}`,
    error: errorOf(visit, name),
  })
}

/** Fields with several choices. */
const tickedIn: ReadonlySet<string> = new Set(['events'])

function choicesOf(
  name: string,
  words: Words,
): readonly (readonly [value: string, label: string])[] | undefined {
  const { endpoints, keys, roles, roleMeanings } = words
  switch (name) {
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
      return eventNames.map((each) => [each, `${each} (${statusWords(each, words)})`])
    case 'events':
      return eventNames.map((each) => [each, statusWords(each, words)])
    default:
      return undefined
  }
}

function statusWords(name: EventName, words: Words): string {
  const { statuses } = { ...orderEvents, ...refundEvents }[name]
  return statuses.map((status) => words.status[status]).join(', ')
}

async function doAction(
  visit: Visit,
  typed: URLSearchParams,
  { action, portalForm, files }: Screen & { readonly files: SentForm['files'] },
): Promise<Done> {
  const { words } = visit.language
  const tooLarge = [...files].flatMap(([name, { isTooLarge }]) => (isTooLarge ? [name] : []))
  if (tooLarge.length > 0)
    return {
      kind: 'refused',
      errors: tooLarge.map((field) => {
        const name = words.fields[field as FieldName] ?? field
        return { field, message: fillText(words.trouble.invalid, { field: name }) }
      }),
    }
  // Files of the portal are small pictures, which actions accept as base64.
  for (const [name, { chunks }] of files) typed.append(name, Buffer.concat(chunks).toString('base64'))
  const names = [...shownFields(action, portalForm).map(([name]) => name), ...(portalForm.hidden ?? [])]
  const raw: RawInput = {
    ...Object.fromEntries(
      names.map((name) => [
        name,
        tickedIn.has(name) ? typed.getAll(name) : typedIn(typed, name, action.input?.properties[name]),
      ]),
    ),
    ...portalForm.fixed,
    ...visit.params,
    merchantId: visit.context.merchantId,
  }
  const { params, input, errors } = readInput(action, portalForm.read?.(raw) ?? raw, {
    required: portalForm.required,
    nameOf: (field) => words.fields[field as FieldName] ?? field,
    say: {
      missing: (field) => fillText(words.trouble.missing, { field }),
      invalid: (field) => fillText(words.trouble.invalid, { field }),
    },
  })
  if (errors.length > 0) return { kind: 'refused', errors }
  if (names.includes('confirm') && !input?.['confirm'] && (await warningsOf(visit, portalForm)).length > 0)
    return { kind: 'refused', errors: [{ field: 'confirm', message: words.keys.stillNeeded }] }
  const { operations, context, member, actor, nowMs } = visit
  // The portal must not allow what a suspended merchant's requests cannot do.
  if ((await operations.merchants.showMerchant(context, context.merchantId)).merchant.status === 'suspended')
    return { kind: 'refused', errors: [{ field: undefined, message: words.home.suspended }] }
  const answer = await runForMember(action, {
    operations,
    member,
    roles: portalForm.roles,
    actor,
    nowMs,
    params,
    input,
    idempotencyKey: action.isOnce ? idempotencyKeyOf(visit, typed, { action, params, input }) : undefined,
    ...(portalForm.needsConfirmation && { confirm: () => confirm(visit, typed) }),
  })
  const said = words.acts[portalForm.name as ActionName]
  // Safe: a page that is shown after an action has its parameters in the answer.
  const made = answer as Readonly<Record<string, string>>
  const to = portalForm.after
    ? pathTo(portalForm.after, { ...visit.params, ...made })
    : pathTo(portalForm.page, visit.params)
  if (portalForm.name === 'testEndpoint')
    return {
      kind: 'shown_once',
      // Safe: the answer of this action.
      page: testEventPage(visit, answer as TestAnswer, { again: pathTo(portalForm.path, visit.params), to }),
    }
  const secrets = action.reply?.(answer, { params, input }).secrets
  if (!secrets) return { kind: 'go', to, flash: said.done }
  return {
    kind: 'shown_once',
    page: {
      title: said.done,
      area: areaOf(portalForm.page),
      content: html`<p><strong>${words.once}</strong></p>
${secrets.map(([, value]) => html`<p class="secret"><code>${value}</code></p>`)}
<p class="acts"><a class="button primary" href="${to}">${words.common.done}</a></p>`,
    },
  }
}

/** However often a member sends the same form, it is one action. */
function idempotencyKeyOf(
  { member, context }: Visit,
  typed: URLSearchParams,
  { action, params, input }: { action: Action; params: unknown; input: unknown },
): string {
  const content = [context.merchantId, member.login, typed.get('formId'), action.name, params, input]
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}

function areaOf(page: string): PortalPage['area'] {
  if (page.startsWith('/orders') || page.startsWith('/links')) return 'orders'
  if (page.startsWith('/bank')) return 'money'
  return page.startsWith('/settings') || page.startsWith('/members') ? 'shop' : 'developer'
}
