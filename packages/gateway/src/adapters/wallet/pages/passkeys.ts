// The passkeys of a wallet's owner. Adding one and removing one ask for the PIN.
import { Failure } from '@tillgate/protocol'
import { maxPasskeyNameLength, type PasskeySite } from '../../../identity/accounts/rules/passkey.ts'
import { token } from '../../checkout/pages/token.ts'
import { passkeyForm } from '../../kit/forms/passkey-form.ts'
import { html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import { pinField, textField } from '../fields.ts'
import { card, walletForm } from '../frame.ts'
import { demandPin } from '../proof.ts'
import { type Done, prefix, refused, type Visit, type WalletPage, type WalletRoute } from '../wallet.ts'

export const passkeysPath = '/passkeys'

export const passkeyRoutes: readonly WalletRoute[] = [
  { path: passkeysPath, show },
  { path: `${passkeysPath}/begin`, act: begin, back: show },
  { path: `${passkeysPath}/add`, act: add, back: show },
  { path: `${passkeysPath}/:credentialId`, show: showRemove },
  { path: `${passkeysPath}/:credentialId`, act: remove, back: showRemove },
]

function ownOf({ wallet: { login, accessVersion, walletId }, address, formToken }: Visit) {
  return { login, accessVersion, actor: `consumer@${address}`, boundTo: formToken, subject: walletId }
}

async function show(visit: Visit): Promise<WalletPage> {
  const { words, wallet, service, language } = visit
  const { passkeys: said, withdraw, settings } = words
  const all = await service.passkeys.list(wallet.login)
  const time = (atMs: number) => language.formats.time(atMs)
  return {
    title: said.heading,
    at: 'settings',
    content: card(
      said.heading,
      html`<p class="quiet">${said.text}</p>
${
  all.length > 0 &&
  html`<ul class="entries">${all.map(
    ({ credentialId, name, createdAtMs, lastUsedAtMs }) =>
      html`<li><span><bdi>${name}</bdi><small class="quiet">${
        lastUsedAtMs === undefined
          ? fill(said.added, { when: time(createdAtMs) })
          : fill(said.used, { when: time(lastUsedAtMs) })
      }</small></span><span><a href="${prefix}${passkeysPath}/${credentialId.toString('base64url')}">${said.remove}</a></span></li>`,
  )}</ul>`
}
${
  visit.site
    ? walletForm(
        visit,
        `${passkeysPath}/begin`,
        html`${pinField({ name: 'pin', label: withdraw.pin, refused: visit.refused })}
<button class="primary" type="submit">${said.add}</button>`,
      )
    : html`<p>${said.needsName}</p>`
}
<p class="ways"><a href="${prefix}/settings">${settings.heading}</a></p>`,
    ),
  }
}

async function begin(visit: Visit, form: URLSearchParams): Promise<Done> {
  const { service, site } = visit
  if (!site) return refused('notNow')
  const refusal = await demandPin(visit, form.get('pin') ?? '')
  if (refusal) return refusal
  const options = await service.passkeys.beginAdding(ownOf(visit), site)
  return { kind: 'shown', page: makePage(visit, site, options) }
}

function makePage(visit: Visit, site: PasskeySite, options: object): WalletPage {
  const { passkeys: said, settings } = visit.words
  return {
    title: said.add,
    at: 'settings',
    withPasskeyScript: true,
    content: card(
      said.add,
      html`<p class="quiet">${said.nameText}</p>
<noscript><p>${said.needsScript}</p></noscript>
${passkeyForm({
  action: `${prefix}${passkeysPath}/add`,
  site,
  asked: { options },
  trouble: said.trouble,
  fields: html`${token(visit.formToken)}${textField({ name: 'name', label: said.name, refused: undefined }, 'off', maxPasskeyNameLength)}
<button class="primary" type="submit">${said.make}</button>`,
})}
<p class="ways"><a href="${prefix}/settings">${settings.heading}</a></p>`,
    ),
  }
}

async function add(visit: Visit, form: URLSearchParams): Promise<Done> {
  const { service, site } = visit
  if (!site) return refused('notNow')
  const given = { name: form.get('name') ?? '', credential: form.get('credential') ?? '' }
  try {
    await service.passkeys.add(ownOf(visit), given, site)
  } catch (error) {
    if (error instanceof Failure) return refused('passkeyNotTaken')
    throw error
  }
  return { kind: 'go', to: `${prefix}${passkeysPath}`, flash: visit.words.notes.passkeyAdded }
}

async function showRemove(visit: Visit): Promise<WalletPage | undefined> {
  const { service, wallet, params, words } = visit
  const { passkeys: said, withdraw } = words
  const credentialId = params['credentialId'] ?? ''
  const found = (await service.passkeys.list(wallet.login)).find(
    (each) => each.credentialId.toString('base64url') === credentialId,
  )
  if (!found) return undefined
  return {
    title: said.remove,
    at: 'settings',
    content: card(
      fill(said.removeHeading, { name: html`<bdi>${found.name}</bdi>` }),
      html`<p class="quiet">${said.removeText}</p>
${walletForm(
  visit,
  `${passkeysPath}/${credentialId}`,
  html`${pinField({ name: 'pin', label: withdraw.pin, refused: visit.refused })}
<button class="primary" type="submit">${said.remove}</button>`,
)}
<p class="ways"><a href="${prefix}${passkeysPath}">${said.heading}</a></p>`,
    ),
  }
}

async function remove(visit: Visit, form: URLSearchParams): Promise<Done> {
  const { service, params } = visit
  if (!(await showRemove(visit))) return refused('notNow')
  const refusal = await demandPin(visit, form.get('pin') ?? '')
  if (refusal) return refusal
  try {
    await service.passkeys.remove(ownOf(visit), params['credentialId'] ?? '')
  } catch (error) {
    if (error instanceof Failure) return refused('notNow')
    throw error
  }
  return { kind: 'go', to: `${prefix}${passkeysPath}`, flash: visit.words.notes.passkeyRemoved }
}
