// The portal's view of the actions: each on a separate screen that explains its effect, and runs it when the form is
// sent. The texts are the portal's, and the merchant always comes from the session.
import { createHash, randomUUID } from 'node:crypto'
import type { Action, PortalForm, RawInput } from '../../actions/action.ts'
import { readInput, typedIn } from '../../actions/read-input.ts'
import { runForMember } from '../../actions/running/run-action.ts'
import { type Breakage, breakageOf } from '../../core/merchants/rules/key-use.ts'
import { confirm, confirmFieldNames, confirmFields } from '../kit/accounts/confirm.ts'
import { carried } from '../kit/forms/refused-form.ts'
import type { SentForm } from '../kit/forms/uploads.ts'
import { type Content, type Html, html } from '../kit/html.ts'
import { icon } from '../kit/icons.ts'
import { fill, fillText } from '../kit/languages/words.ts'
import { hasFile, inputsOf, type Screen, shownFields, tickedIn } from './action-fields.ts'
import { valuesOf } from './action-values.ts'
import { type TestAnswer, testEventPage } from './areas/test-event.ts'
import type { Language } from './languages.ts'
import { ago } from './parts.ts'
import { type Done, type PortalAct, type PortalPage, type PortalRoute, pathTo, type Visit } from './portal.ts'
import type { ActionName, FieldName } from './words.ts'

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
        takesFile: hasFile(shownFields(action, portalForm)),
        act: (visit, form, files) => doAction(visit, form, { action, portalForm, files }),
      }
      return [{ path: portalForm.path, roles: portalForm.roles, show }, route]
    }),
  )
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
  const isFile = hasFile(fields)
  const isKey = portalForm.name === 'newRsaKey'
  const isLink = portalForm.name === 'newLink'
  const form = html`<form method="post" action="${pathTo(portalForm.path, visit.params)}" class="stack card"${isFile && html` enctype="multipart/form-data"`}${isKey && html` id="key-form"`}>
${carried(visit)}
${isKey && keyMaker(visit.language)}
${portalForm.hidden?.map((name) => html`<input type="hidden" name="${name}" value="${values[name]}">`)}
${action.isOnce && html`<input type="hidden" name="formId" value="${randomUUID()}">`}
${inputsOf(visit, { fields, action, portalForm, values })}
${portalForm.needsConfirmation && confirmFields(visit)}
<div class="acts"><button class="${portalForm.isDangerous ? 'danger' : 'primary'}">${said.title}</button>
<a class="button plain" href="${pathTo(portalForm.page, visit.params)}">${words.common.back}</a></div>
</form>`
  return {
    title: said.title,
    area: areaOf(portalForm.page),
    ...((isKey || isLink) && { withFormScript: true }),
    content: html`<p>${said.explains}</p>
${warnings.map((text) => html`<p><strong>${text}</strong></p>`)}
${isLink ? html`<div class="with-preview">${form}${linkPreview(visit)}</div>` : form}`,
  }
}

/** What customers will see. Only the script shows it, because it follows what is typed. */
function linkPreview({ member, language: { words } }: Visit): Html {
  return html`<aside class="preview card" id="link-preview" data-open="${words.links.open}" hidden><h2>${words.links.preview}</h2><p class="quiet">${icon('store')}<bdi>${member.merchantName}</bdi></p><p class="wrap"></p><p class="figure"></p></aside>`
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
  // Files of the portal are small, and actions accept them as base64.
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
  if (page.startsWith('/bank') || page.startsWith('/disputes')) return 'money'
  return page.startsWith('/settings') || page.startsWith('/members') ? 'shop' : 'developer'
}
