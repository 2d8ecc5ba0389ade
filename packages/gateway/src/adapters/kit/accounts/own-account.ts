// A person's own account: password, second step, passkeys, and where they are signed in.
import {
  maxPersonName,
  minPasswordLength,
  refusalOfPassword,
} from '../../../identity/accounts/rules/account.ts'
import type { SecondStepState } from '../../../identity/accounts/second-step.ts'
import type { SmallPage } from '../door.ts'
import { fieldOf } from '../forms/form-fields.ts'
import { carried, errorOf } from '../forms/refused-form.ts'
import { type Content, type Html, html } from '../html.ts'
import { fill, fillText } from '../languages/words.ts'
import type { Done, Route } from '../routes.ts'
import { confirm, confirmFieldNames, confirmFields } from './confirm.ts'
import { passkeyRoutes } from './passkeys.ts'
import { secondStepPath, secondStepRoutes } from './second-step.ts'
import type { AccountVisit } from './surface.ts'
import type { AccountWords } from './words.ts'

const page = '/account'
const namePath = `${page}/name`
const passwordPath = `${page}/password`
const passkeysPath = `${page}/passkeys`
const passwordFields = ['old', 'new', 'again'] as const
const tokenPattern = /^[\w-]{43}$/

/** How an adapter shows the account. */
export interface AccountPages<Page> {
  pathTo(path: string): string
  page(page: SmallPage): Page
  when(visit: AccountVisit, timeMs: number): Content
}

/** The page of the account itself is the adapter's, which puts `accountParts` on it. */
export function accountRoutes<Page>(pages: AccountPages<Page>): readonly Route<AccountVisit, Page>[] {
  const { pathTo } = pages
  const signIn = pathTo('/sign-in')
  return [
    {
      path: passwordPath,
      page,
      fields: passwordFields,
      act: (visit, form) => changePassword(visit, form, signIn),
    },
    {
      path: namePath,
      page,
      fields: ['name'],
      async act({ accounts, account: { login }, actor, language }, form) {
        await accounts.changeName({ actor }, { login, name: form.get('name') ?? '' })
        return { kind: 'go', to: pathTo(page), flash: language.words.account.nameSaved }
      },
    },
    {
      path: `${page}/sessions/end`,
      page,
      fields: [],
      async act({ accounts, account, language }, form) {
        const session = form.get('session') ?? ''
        if (tokenPattern.test(session))
          await accounts.sessions.end({ login: account.login, tokenHash: Buffer.from(session, 'base64url') })
        return { kind: 'go', to: pathTo(page), flash: language.words.account.ended }
      },
    },
    {
      path: `${page}/sessions/end-all`,
      page,
      fields: [],
      async act({ accounts, account, actor, language }) {
        await accounts.sessions.endAll(account.login, actor)
        return { kind: 'go', to: signIn, flash: language.words.signIn.signedOut, endsSession: true }
      },
    },
    ...secondStepRoutes(pages),
    ...passkeyRoutes<AccountVisit, Page>({
      ...pages,
      path: passkeysPath,
      wordsOf: ({ language }) => language.words.passkeys,
      passkeysOf: ({ accounts }) => accounts.passkeys,
      ownOf: ({ account: { login, accessVersion }, actor, formToken }) => ({
        login,
        accessVersion,
        actor,
        boundTo: formToken,
      }),
      whyNone: ({ account, language }) => (account.hasPassword ? undefined : language.words.provider.yours),
      nameField: (visit, label, maxLength) =>
        fieldOf({
          name: 'name',
          label,
          isRequired: true,
          attributes: html` maxlength="${maxLength}" autocomplete="off"`,
          error: errorOf(visit, 'name'),
        }),
      confirmFieldNames,
      confirmFields,
      async confirm(visit, form) {
        await confirm(visit, form)
        return undefined
      },
    }),
  ]
}

async function changePassword(
  visit: AccountVisit,
  form: URLSearchParams,
  signIn: string,
): Promise<Done<AccountVisit, never>> {
  const { account, session, actor, accounts, language } = visit
  const { words, formats } = language
  const newPassword = form.get('new') ?? ''
  const short = fillText(words.join.short, { count: formats.number(minPasswordLength) })
  const errors = [
    ...(refusalOfPassword(newPassword) === undefined ? [] : [{ field: 'new', message: short }]),
    ...(newPassword === form.get('again') ? [] : [{ field: 'again', message: words.join.differ }]),
  ]
  if (errors.length > 0) return { kind: 'refused', errors }
  const change = { login: account.login, session: session.tokenHash, newPassword }
  const oldPassword = form.get('old') ?? ''
  await accounts.changePassword({ actor }, { ...change, oldPassword }, accounts.authenticate)
  return { kind: 'go', to: signIn, flash: words.account.changed, endsSession: true }
}

/** Name, password, second step, passkeys and sessions, each in a card. */
export async function accountParts<Page>(visit: AccountVisit, pages: AccountPages<Page>): Promise<Html> {
  const { account, accounts, language, session } = visit
  const { words } = language
  const [sessions, state] = await Promise.all([
    accounts.sessions.list(account.login),
    accounts.secondStep.stateOf(account.login),
  ])
  const form = (name: string, fields: Html) =>
    html`<form method="post" action="${pages.pathTo(`${page}/${name}`)}" class="stack">${carried(visit)}${fields}</form>`
  const rows = sessions.map(({ address, lastSeenAtMs, tokenHash }) => {
    const end = html`<input type="hidden" name="session" value="${tokenHash.toString('base64url')}"><button>${words.account.end}</button>`
    return html`<li>${address} · ${pages.when(visit, lastSeenAtMs)} ${
      tokenHash.equals(session.tokenHash)
        ? html`<strong>${words.account.here}</strong>`
        : form('sessions/end', end)
    }</li>`
  })
  return html`<section class="card">${nameForm(visit, pages.pathTo(namePath))}</section>${account.hasPassword ? ownSecrets(visit, state, pages) : card(words.provider.signIn, html`<p>${words.provider.yours}</p>`)}
${card(
  words.account.sessions,
  html`<ul class="plain">${rows}</ul>${form('sessions/end-all', html`<button class="danger">${words.account.endAll}</button>`)}`,
)}`
}

function ownSecrets<Page>(visit: AccountVisit, state: SecondStepState, { pathTo }: AccountPages<Page>): Html {
  const { words, formats } = visit.language
  const link = (path: string, label: string) =>
    html`<p class="acts"><a class="button" href="${pathTo(path)}">${label}</a></p>`
  const { secondStep, secondStepOn, secondStepOff, begin } = words.account
  return html`${card(
    secondStep,
    state.kind === 'on'
      ? html`<p>${fill(secondStepOn, { count: formats.number(state.recoveryCodesLeft) })}</p>${link(secondStepPath, secondStep)}`
      : html`<p>${secondStepOff}</p>${link(secondStepPath, begin)}`,
  )}
${card(words.passkeys.heading, html`<p>${words.passkeys.text}</p>${link(passkeysPath, words.passkeys.heading)}`)}
${card(words.account.password, passwordForm(visit, pathTo(passwordPath)))}`
}

function nameForm(visit: AccountVisit, action: string): Html {
  const { account, refused } = visit
  const { words } = visit.language
  const error = errorOf(visit, 'name', action)
  return html`<form method="post" action="${action}" class="stack narrow">
${carried(visit)}
${nameField(words, error ? refused?.typed.get('name') : account.name, error)}
<button>${words.account.nameSave}</button>
</form>`
}

/** A person's name, where they join and in their account. */
export function nameField(
  { account }: AccountWords,
  value: string | null | undefined,
  error: ReturnType<typeof errorOf>,
): Html {
  return fieldOf({
    name: 'name',
    label: account.name,
    hint: account.nameText,
    value: value ?? undefined,
    attributes: html` autocomplete="name" maxlength="${maxPersonName}"`,
    error,
  })
}

function passwordForm(visit: AccountVisit, action: string): Html {
  const { words, formats } = visit.language
  const fields = passwordFields.map((name) =>
    fieldOf({
      name,
      label: fillText(words.account[name], { count: formats.number(minPasswordLength) }),
      kind: 'password',
      isRequired: true,
      attributes:
        name === 'old'
          ? html` autocomplete="current-password"`
          : html` autocomplete="new-password" minlength="${minPasswordLength}"`,
      error: errorOf(visit, name, action),
    }),
  )
  return html`<p class="quiet">${words.account.passwordText}</p>
<form method="post" action="${action}" class="stack narrow">
${carried(visit)}
${fields}
<button class="primary">${words.account.change}</button>
</form>`
}

function card(heading: string, content: Content): Html {
  return html`<section class="card"><h2>${heading}</h2>${content}</section>`
}
