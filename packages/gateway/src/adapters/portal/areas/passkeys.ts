// Somebody's own passkeys, one action a screen. Adding one and removing one ask for the password.
import { Failure } from '@tillgate/protocol'
import { maxPasskeyNameLength, type PasskeySite } from '../../../identity/accounts/rules/passkey.ts'
import { fieldOf } from '../../kit/forms/form-fields.ts'
import { passkeyForm } from '../../kit/forms/passkey-form.ts'
import { html } from '../../kit/html.ts'
import { fill, fillText } from '../../kit/languages/words.ts'
import { empty } from '../../kit/pages/tables.ts'
import { carried } from '../forms.ts'
import { ago } from '../parts.ts'
import { type Done, type PortalPage, type PortalRoute, pathTo, type Visit } from '../portal.ts'
import { demandProof, proofFields } from '../proof.ts'

export const passkeysPath = '/account/passkeys'

export const passkeysArea: readonly PortalRoute[] = [
  { path: passkeysPath, show },
  { path: `${passkeysPath}/begin`, show: showBegin },
  { path: `${passkeysPath}/begin`, fields: ['password', 'code'], act: begin, back: showBegin },
  { path: `${passkeysPath}/add`, fields: ['name'], act: add, back: showBegin },
  { path: `${passkeysPath}/:credentialId/remove`, show: showRemove },
  {
    path: `${passkeysPath}/:credentialId/remove`,
    fields: ['password', 'code'],
    act: remove,
    back: showRemove,
  },
]

function ownOf({ account: { login, accessVersion }, actor, formToken }: Visit) {
  return { login, accessVersion, actor, boundTo: formToken }
}

async function show(visit: Visit): Promise<PortalPage> {
  const { portal, account, language } = visit
  const { passkeys: words, common } = language.words
  const passkeys = await portal.passkeys.list(account.login)
  return {
    title: words.heading,
    area: 'shop',
    content: html`<p>${words.text}</p>
${
  passkeys.length === 0
    ? empty(common.none)
    : html`<ul class="plain">${passkeys.map(
        ({ credentialId, name, createdAtMs, lastUsedAtMs }) =>
          html`<li class="card"><strong><bdi>${name}</bdi></strong> <span class="quiet">${
            lastUsedAtMs === undefined
              ? fill(words.added, { when: ago(createdAtMs, visit) })
              : fill(words.used, { when: ago(lastUsedAtMs, visit) })
          }</span> <a class="button danger" href="${pathTo(`${passkeysPath}/:credentialId/remove`, { credentialId: credentialId.toString('base64url') })}">${words.remove}</a></li>`,
      )}</ul>`
}
<p class="acts"><a class="button primary" href="${pathTo(`${passkeysPath}/begin`)}">${words.add}</a> <a class="button" href="${pathTo('/account')}">${common.back}</a></p>`,
  }
}

async function showBegin(visit: Visit): Promise<PortalPage> {
  const { passkeys: words } = visit.language.words
  return {
    title: words.add,
    area: 'shop',
    content: !visit.account.hasPassword
      ? html`<p>${visit.language.words.provider.yours}</p>`
      : visit.site
        ? html`<form method="post" action="${pathTo(`${passkeysPath}/begin`)}" class="stack card">${carried(visit)}${proofFields(visit)}<button class="primary">${words.add}</button></form>`
        : html`<p>${words.needsName}</p>`,
  }
}

async function begin(visit: Visit, form: URLSearchParams): Promise<Done> {
  const { portal, site } = visit
  if (!site || !visit.account.hasPassword) return { kind: 'refused', errors: [] }
  await demandProof(visit, form)
  const options = await portal.passkeys.beginAdding(ownOf(visit), site)
  return { kind: 'shown_once', page: makePage(visit, site, options) }
}

function makePage(visit: Visit, site: PasskeySite, options: object): PortalPage {
  const { passkeys: words } = visit.language.words
  return {
    title: words.add,
    area: 'shop',
    withPasskeyScript: true,
    content: html`<p>${words.nameText}</p>
<noscript><p>${words.needsScript}</p></noscript>
${passkeyForm({
  action: pathTo(`${passkeysPath}/add`),
  site,
  asked: { options },
  trouble: words.trouble,
  fields: html`${carried(visit)}${fieldOf({
    name: 'name',
    label: words.name,
    isRequired: true,
    attributes: html` maxlength="${maxPasskeyNameLength}" autocomplete="off"`,
  })}<button class="primary">${words.make}</button>`,
})}`,
  }
}

async function add(visit: Visit, form: URLSearchParams): Promise<Done> {
  const { portal, site, language } = visit
  if (!site) return { kind: 'refused', errors: [] }
  const given = { name: form.get('name') ?? '', credential: form.get('credential') ?? '' }
  await portal.passkeys.add(ownOf(visit), given, site)
  return { kind: 'go', to: pathTo(passkeysPath), note: language.words.passkeys.addedNow }
}

async function showRemove(visit: Visit): Promise<PortalPage | undefined> {
  const { portal, account, params, language } = visit
  const { passkeys: words } = language.words
  const credentialId = params['credentialId'] ?? ''
  const found = (await portal.passkeys.list(account.login)).find(
    (each) => each.credentialId.toString('base64url') === credentialId,
  )
  if (!found) return undefined
  return {
    title: fillText(words.removeHeading, { name: found.name }),
    area: 'shop',
    content: html`<p>${words.removeText}</p><form method="post" action="${pathTo(`${passkeysPath}/:credentialId/remove`, { credentialId })}" class="stack card">${carried(visit)}${proofFields(visit)}<button class="danger">${words.remove}</button></form>`,
  }
}

async function remove(visit: Visit, form: URLSearchParams): Promise<Done> {
  const { portal, params, language } = visit
  const credentialId = params['credentialId'] ?? ''
  if (!(await showRemove(visit))) throw new Failure('not_found')
  await demandProof(visit, form)
  await portal.passkeys.remove(ownOf(visit), credentialId)
  return { kind: 'go', to: pathTo(passkeysPath), note: language.words.passkeys.removed }
}
