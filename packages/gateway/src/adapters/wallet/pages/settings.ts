// PIN, devices, language, and closing the wallet.

import { postedMinor } from '../../../core/ledger/rules/transfer.ts'
import type { WalletSession } from '../../../identity/consumers/store/wallet-sessions.ts'
import { languages } from '../../checkout/languages.ts'
import { icon } from '../../checkout/pages/icons.ts'
import { initialOf } from '../../checkout/pages/shop.ts'
import { type Html, html } from '../../kit/html.ts'
import { isLanguageTag } from '../../kit/languages/languages.ts'
import { fill } from '../../kit/languages/words.ts'
import { confirmBy, confirmPin } from '../confirm.ts'
import { newPinField, pinField } from '../fields.ts'
import { card, walletForm } from '../frame.ts'
import { wordsOf } from '../languages.ts'
import {
  type Done,
  prefix,
  refusalOfNewPin,
  refused,
  type Visit,
  type WalletPage,
  type WalletRoute,
} from '../wallet.ts'
import { timeOf } from './entries.ts'
import { passkeysPath } from './passkeys.ts'

export const settingsRoutes: readonly WalletRoute[] = [
  { path: '/settings', show: settings },
  { path: '/pin', act: changePin, page: '/settings' },
  { path: '/language', act: setLanguage, page: '/settings' },
  { path: '/devices/end', act: endSession, page: '/settings' },
  { path: '/devices/end-all', act: endAll, page: '/settings' },
  { path: '/close', show: closing },
  { path: '/close', act: close },
]

async function settings(visit: Visit): Promise<WalletPage> {
  const { words, operations, wallet } = visit
  const { settings: said, forgotten } = words
  const { refused: why } = visit
  const sessions = await operations.walletSessions.list(wallet.walletId)
  return {
    title: said.heading,
    at: 'settings',
    content: html`${card(
      said.heading,
      html`<p class="profile"><span class="mark" aria-hidden="true">${initialOf(wallet.name)}</span><span><bdi>${wallet.name}</bdi><bdi class="quiet">${wallet.login}</bdi></span></p>`,
    )}
<section class="card pane"><div class="setting"><div><h2>${words.passkeys.heading}</h2><p class="quiet">${words.passkeys.text}</p></div>
<a class="button" href="${prefix}${passkeysPath}">${words.passkeys.manage}</a></div>
<details class="fold"${why && html` open`}><summary>${said.pin}</summary>
${walletForm(
  visit,
  '/pin',
  html`${pinField({ name: 'pin', label: said.oldPin, refused: why })}
${newPinField({ name: 'new', label: forgotten.newPin, hint: forgotten.hint, refused: why })}
${newPinField({ name: 'again', label: forgotten.again, refused: why })}
<button class="primary" type="submit">${said.changePin}</button>`,
)}</details></section>
<section class="card pane"><h2>${said.devices}</h2>
<ul class="entries">${sessions.map((session) => device(visit, session))}</ul>
${walletForm(visit, '/devices/end-all', html`<button type="submit">${said.endAll}</button>`)}</section>
<section class="card pane"><h2>${said.language}</h2><p class="quiet">${said.languageText}</p>
${walletForm(
  visit,
  '/language',
  html`<div class="pair"><select id="language" name="language" aria-label="${said.language}">${languages.map(
    ({ tag, name }) =>
      html`<option value="${tag}" lang="${tag}"${tag === visit.language.tag && html` selected`}>${name}</option>`,
  )}</select>
<button type="submit">${said.save}</button></div>`,
)}</section>
<section class="card pane"><div class="setting"><div><h2>${said.close}</h2><p class="quiet">${said.closeText}</p></div>
<a class="button danger" href="${prefix}/close">${said.close}</a></div></section>`,
  }
}

function device(visit: Visit, { sessionId, device: name, lastSeenAtMs }: WalletSession): Html {
  const { words, language, session } = visit
  const { settings: said } = words
  const isHere = sessionId === session.sessionId
  return html`<li><span>${name || said.unknownDevice}<small class="quiet">${isHere ? said.here : fill(said.seen, { time: timeOf(lastSeenAtMs, language.formats.time(lastSeenAtMs)) })}</small></span>${
    !isHere &&
    walletForm(
      visit,
      '/devices/end',
      html`<input type="hidden" name="session" value="${sessionId}"><button class="link" type="submit">${said.end}</button>`,
    )
  }</li>`
}

async function changePin(visit: Visit, given: URLSearchParams): Promise<Done> {
  const newPin = given.get('new') ?? ''
  const unfit = refusalOfNewPin(newPin, given.get('again'))
  if (unfit) return refused(visit, unfit, { field: 'new' })
  const { operations, wallet, address, device: known, session } = visit
  const proof = { wallet, pin: given.get('pin') ?? '', address, device: known }
  let changed = wallet
  const refusal = await confirmBy(visit, async () => {
    const outcome = await operations.changePin(proof, { newPin, tokenHash: session.tokenHash })
    if (outcome.kind === 'signed_in') changed = outcome.wallet
    return outcome
  })
  if (refusal) return refusal
  // A PIN change ends remembered devices as well; this browser stays remembered.
  const cookie = visit.rememberDevice(changed)
  return { kind: 'go', to: `${prefix}/settings`, flash: visit.words.notes.pinChanged, cookies: [cookie] }
}

async function setLanguage({ operations, wallet }: Visit, given: URLSearchParams): Promise<Done> {
  const language = given.get('language')
  if (!isLanguageTag(language)) return { kind: 'go', to: `${prefix}/settings` }
  await operations.setWalletLanguage(wallet.walletId, language)
  return {
    kind: 'go',
    to: `${prefix}/settings?lang=${language}`,
    flash: wordsOf[language].notes.languageSaved,
  }
}

async function endSession({ operations, wallet, words }: Visit, given: URLSearchParams): Promise<Done> {
  await operations.walletSessions.end(wallet.walletId, given.get('session') ?? '')
  return { kind: 'go', to: `${prefix}/settings`, flash: words.notes.ended }
}

async function endAll({ operations, wallet, address, words }: Visit): Promise<Done> {
  await operations.walletSessions.endAll(wallet.walletId, `consumer@${address}`)
  return {
    kind: 'go',
    to: `${prefix}/sign-in`,
    flash: words.notes.signedOutEverywhere,
    endsSession: true,
  }
}

/** Why the wallet cannot be closed now; undefined if it can, as far as visible without locking its accounts. */
async function whyOpen({ operations, wallet }: Visit): Promise<'notEmpty' | 'underWay' | undefined> {
  const balances = await operations.listBalances(wallet.walletId)
  if (balances.some((each) => each.debitsPendingMinor + each.creditsPendingMinor > 0n)) return 'underWay'
  return balances.some((each) => postedMinor(each) > 0n) ? 'notEmpty' : undefined
}

async function closing(visit: Visit): Promise<WalletPage> {
  const { words } = visit
  const { close: said, withdraw, nav, refusals } = words
  const why = await whyOpen(visit)
  if (why)
    return {
      title: said.heading,
      at: 'settings',
      content: card(
        said.heading,
        html`<p>${said.text}</p>
${!visit.refused && html`<p class="notice">${icon('notice')}<span>${refusals[why]}</span></p>`}
<p class="ways"><a class="button primary" href="${prefix}${why === 'notEmpty' ? '/withdraw' : '/history'}">${why === 'notEmpty' ? nav.withdraw : nav.history}</a></p>`,
      ),
    }
  return {
    title: said.heading,
    at: 'settings',
    content: card(
      said.heading,
      html`<p>${said.text}</p><p class="quiet">${said.empty}</p>
${walletForm(
  visit,
  '/close',
  html`${pinField({ name: 'pin', label: withdraw.pin, refused: visit.refused })}
<button class="primary" type="submit">${said.submit}</button>`,
)}`,
    ),
  }
}

async function close(visit: Visit, given: URLSearchParams): Promise<Done> {
  const why = await whyOpen(visit)
  if (why) return refused(visit, why)
  const refusal = await confirmPin(visit, given.get('pin') ?? '')
  if (refusal) return refusal
  const { operations, wallet, address } = visit
  const outcome = await operations.closeWallet(wallet, `consumer@${address}`)
  if (outcome === 'access_ended') return refused(visit, 'notNow')
  if (outcome === 'not_empty') return refused(visit, 'notEmpty')
  if (outcome === 'under_way') return refused(visit, 'underWay')
  return { kind: 'go', to: `${prefix}/closed`, endsSession: true }
}
