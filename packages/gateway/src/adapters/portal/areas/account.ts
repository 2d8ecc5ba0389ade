// The member's own account: shops, password, second step, and sessions.
import { minPasswordLength, refusalOfPassword } from '../../../identity/accounts/rules/account.ts'
import type { SecondStepState } from '../../../identity/accounts/second-step.ts'
import { fieldOf } from '../../kit/forms/form-fields.ts'
import { Html, html } from '../../kit/html.ts'
import { fill, fillText } from '../../kit/languages/words.ts'
import { qrCode } from '../../kit/pages/qr.ts'
import { carried, errorOf } from '../forms.ts'
import { ago, card, shopTabs, tabs } from '../parts.ts'
import {
  type Done,
  type PortalAct,
  type PortalPage,
  type PortalRoute,
  pathTo,
  type Visit,
} from '../portal.ts'
import { codeField, codeOf, demandPassword, passwordField } from '../proof.ts'
import { passkeysPath } from './passkeys.ts'

const page = '/account'
const passwordFields = ['old', 'new', 'again'] as const
const tokenPattern = /^[\w-]{43}$/

const own = (name: string, fields: readonly string[], act: PortalAct['act'], back = show): PortalAct => ({
  path: `${page}/${name}`,
  fields,
  act,
  back,
})

export const accountArea: readonly PortalRoute[] = [
  { path: page, show },
  own('password', passwordFields, changePassword),
  own('shop', [], async ({ memberships }, form) => {
    const wished = memberships.find(({ merchantId }) => merchantId === form.get('merchantId'))
    if (!wished) return { kind: 'refused', errors: [] }
    return { kind: 'switch', merchantId: wished.merchantId }
  }),
  own('sessions/end', [], async ({ portal, account, language }, form) => {
    const session = form.get('session') ?? ''
    if (tokenPattern.test(session))
      await portal.sessions.end({ login: account.login, tokenHash: Buffer.from(session, 'base64url') })
    return { kind: 'go', to: pathTo(page), note: language.words.account.ended }
  }),
  own('sessions/end-all', [], async ({ portal, account, actor, language }) => {
    await portal.sessions.endAll(account.login, actor)
    return { kind: 'go', to: pathTo('/sign-in'), note: language.words.signIn.signedOut }
  }),
  own('second-step/begin', ['password'], async (visit, form) => {
    if (!visit.account.hasPassword) return { kind: 'refused', errors: [] }
    await demandPassword(visit, form)
    return { kind: 'shown_once', page: secretPage(visit, await visit.portal.secondStep.begin(ownOf(visit))) }
  }),
  own('second-step/confirm', ['code'], async (visit, form) => {
    const codes = await visit.portal.secondStep.confirm(ownOf(visit), codeOf(visit, form))
    return { kind: 'shown_once', page: codesPage(visit, codes) }
  }),
  own('second-step/off', ['code'], async (visit, form) => {
    await visit.portal.secondStep.switchOff(ownOf(visit), codeOf(visit, form))
    return { kind: 'go', to: pathTo(page), note: visit.language.words.account.offDone }
  }),
]

function ownOf({ account, session, actor }: Visit) {
  return { ...account, actor, session: session.tokenHash }
}

async function changePassword(visit: Visit, form: URLSearchParams): Promise<Done> {
  const { account, session, actor, portal, language } = visit
  const { words, formats } = language
  const newPassword = form.get('new') ?? ''
  const short = fillText(words.join.short, { count: formats.number(minPasswordLength) })
  const errors = [
    ...(refusalOfPassword(newPassword) === undefined ? [] : [{ field: 'new', message: short }]),
    ...(newPassword === form.get('again') ? [] : [{ field: 'again', message: words.join.differ }]),
  ]
  if (errors.length > 0) return { kind: 'refused', errors }
  const change = { login: account.login, session: session.tokenHash, newPassword }
  await portal.changePassword(
    { actor },
    { ...change, oldPassword: form.get('old') ?? '' },
    portal.authenticate,
  )
  return { kind: 'go', to: pathTo('/sign-in'), note: words.account.changed }
}

async function show(visit: Visit): Promise<PortalPage> {
  const { portal, account, member, memberships, language } = visit
  const { words } = language
  const [sessions, state] = await Promise.all([
    portal.sessions.list(account.login),
    portal.secondStep.stateOf(account.login),
  ])
  const youAre = { email: account.login, role: words.roles[member.role], shop: member.merchantName }
  return {
    title: words.tabs.account,
    area: 'shop',
    content: html`${tabs(visit, shopTabs, 'account')}<p class="wrap">${fill(words.account.youAre, youAre)}</p>
<div class="grid">${
      memberships.length > 1 &&
      card(
        words.account.shops,
        html`<ul class="plain">${memberships.map(
          ({ merchantId, merchantName }) =>
            html`<li>${form(visit, 'shop', html`<input type="hidden" name="merchantId" value="${merchantId}"><button${merchantId === member.merchantId && html` disabled`}><bdi>${merchantName}</bdi></button>`)}</li>`,
        )}</ul>`,
      )
    }
${account.hasPassword ? ownSecrets(visit, state) : card(words.provider.signIn, html`<p>${words.provider.yours}</p>`)}
${card(
  words.account.sessions,
  html`<ul class="plain">${sessions.map((each) => {
    const isThis = each.tokenHash.equals(visit.session.tokenHash)
    return html`<li>${each.address} · ${ago(each.lastSeenAtMs, visit)} ${
      isThis
        ? html`<strong>${words.account.here}</strong>`
        : form(
            visit,
            'sessions/end',
            html`<input type="hidden" name="session" value="${each.tokenHash.toString('base64url')}"><button>${words.account.end}</button>`,
          )
    }</li>`
  })}</ul>${form(visit, 'sessions/end-all', html`<button class="danger">${words.account.endAll}</button>`)}`,
)}</div>`,
  }
}

function ownSecrets(visit: Visit, state: SecondStepState): Html {
  const { words, formats } = visit.language
  return html`${card(
    words.account.secondStep,
    state.kind === 'on'
      ? html`<p>${fill(words.account.secondStepOn, { count: formats.number(state.recoveryCodesLeft) })}</p>${form(visit, 'second-step/off', html`${codeField(visit)}<button class="danger">${words.account.off}</button>`)}`
      : html`<p>${words.account.secondStepOff}</p>${form(visit, 'second-step/begin', html`${passwordField(visit)}<button>${words.account.begin}</button>`)}`,
  )}
${card(
  words.passkeys.heading,
  html`<p>${words.passkeys.text}</p><p><a class="button" href="${pathTo(passkeysPath)}">${words.passkeys.heading}</a></p>`,
)}
${card(words.account.password, passwordForm(visit))}`
}

function form(visit: Visit, name: string, fields: Html): Html {
  return html`<form method="post" action="${pathTo(`${page}/${name}`)}" class="stack">${carried(visit)}${fields}</form>`
}

function passwordForm(visit: Visit): Html {
  const { words, formats } = visit.language
  const field = (name: (typeof passwordFields)[number]) =>
    fieldOf({
      name,
      label: fillText(words.account[name], { count: formats.number(minPasswordLength) }),
      kind: 'password',
      isRequired: true,
      attributes:
        name === 'old'
          ? html` autocomplete="current-password"`
          : html` autocomplete="new-password" minlength="${minPasswordLength}"`,
      error: errorOf(visit, name),
    })
  return html`<p class="quiet">${words.account.passwordText}</p>${form(visit, 'password', html`${passwordFields.map(field)}<button class="primary">${words.account.change}</button>`)}`
}

function secretPage(visit: Visit, { secret, uri }: { secret: string; uri: string }): PortalPage {
  const { account } = visit.language.words
  return {
    title: account.secondStep,
    area: 'shop',
    content: html`<p>${account.scan}</p>
<div class="qr" role="img" aria-label="${account.qr}">${new Html(qrCode(uri))}</div>
<p>${account.secret}</p><p class="secret"><code>${secret.match(/.{1,4}/g)?.join(' ')}</code></p>
${form(visit, 'second-step/confirm', html`${codeField(visit, account.confirm)}<button class="primary">${account.confirmButton}</button>`)}`,
  }
}

function codesPage({ language: { words } }: Visit, codes: readonly string[]): PortalPage {
  return {
    title: words.account.on,
    area: 'shop',
    content: html`<p>${words.account.codes}</p>
<ul class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<p><a class="button primary" href="${pathTo(page)}">${words.common.done}</a></p>`,
  }
}
