// A person's own second step of signing in: turned on with an app, confirmed by a code, turned off with a code. The secret
// and the recovery codes are shown only once, in answer to a form.

import type { SmallPage } from '../door.ts'
import { carried } from '../forms/refused-form.ts'
import type { Content } from '../html.ts'
import { Html, html } from '../html.ts'
import { fill } from '../languages/words.ts'
import { qrCode } from '../pages/qr.ts'
import type { FormRoute, Route } from '../routes.ts'
import { codeField, codeOf, confirmPassword, demandHavingPassword, passwordField } from './confirm.ts'
import type { AccountVisit } from './surface.ts'

export const secondStepPath = '/account/second-step'

export function secondStepRoutes<Page>({
  pathTo,
  page,
}: {
  pathTo(path: string): string
  page(page: SmallPage): Page
}): readonly Route<AccountVisit, Page>[] {
  const own = (name: string, act: FormRoute<AccountVisit, Page>['act']) => ({
    path: `${secondStepPath}/${name}`,
    page: secondStepPath,
    fields: ['password', 'code'],
    act,
  })
  const form = (visit: AccountVisit, name: string, fields: (action: string) => Html): Html => {
    const action = pathTo(`${secondStepPath}/${name}`)
    return html`<form method="post" action="${action}" class="stack narrow">
${carried({ ...visit, url: pathTo(secondStepPath) })}
${fields(action)}
</form>`
  }
  const confirmForm = (visit: AccountVisit): Html => {
    const { confirm, confirmButton } = visit.language.words.account
    return form(
      visit,
      'confirm',
      (action) => html`${codeField(visit, action, confirm)}<button class="primary">${confirmButton}</button>`,
    )
  }

  async function show(visit: AccountVisit): Promise<Page> {
    const { account, provider } = visit.language.words
    const content = visit.account.hasPassword ? await stateOf(visit) : html`<p>${provider.yours}</p>`
    return page({ title: account.secondStep, content })
  }

  async function stateOf(visit: AccountVisit): Promise<Content> {
    const { words, formats } = visit.language
    const state = await visit.accounts.secondStep.stateOf(visit.account.login)
    if (state.kind === 'on')
      return html`<p>${fill(words.account.secondStepOn, { count: formats.number(state.recoveryCodesLeft) })}</p>
${form(visit, 'off', (action) => html`${codeField(visit, action)}<button class="danger">${words.account.off}</button>`)}`
    return html`<p>${words.account.secondStepOff}</p>
${form(visit, 'begin', (action) => html`${passwordField(visit, action)}<button class="primary">${words.account.begin}</button>`)}
${state.kind === 'begun' && confirmForm(visit)}`
  }

  function secretPage(visit: AccountVisit, { secret, uri }: { secret: string; uri: string }): Page {
    const { account } = visit.language.words
    return page({
      title: account.secondStep,
      content: html`<p>${account.scan}</p>
<div class="qr" role="img" aria-label="${account.qr}">${new Html(qrCode(uri))}</div>
<p>${account.secret}</p><p class="secret"><code>${secret.match(/.{1,4}/g)?.join(' ')}</code></p>
<details><summary>URI</summary><p class="wrap"><code>${uri}</code></p></details>
${confirmForm(visit)}`,
    })
  }

  function codesPage({ language: { words } }: AccountVisit, codes: readonly string[]): Page {
    return page({
      title: words.account.on,
      content: html`<p>${words.account.codes}</p>
<ul class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<p class="acts"><a class="button primary" href="${pathTo(secondStepPath)}">${words.common.done}</a></p>`,
    })
  }

  return [
    { path: secondStepPath, show },
    own('begin', async (visit, form) => {
      demandHavingPassword(visit)
      await confirmPassword(visit, form)
      return {
        kind: 'shown_once',
        page: secretPage(visit, await visit.accounts.secondStep.begin(ownOf(visit))),
      }
    }),
    own('confirm', async (visit, form) => {
      const codes = await visit.accounts.secondStep.confirm(ownOf(visit), codeOf(visit, form))
      return { kind: 'shown_once', page: codesPage(visit, codes) }
    }),
    own('off', async (visit, form) => {
      await visit.accounts.secondStep.switchOff(ownOf(visit), codeOf(visit, form))
      return { kind: 'go', flash: visit.language.words.account.offDone }
    }),
  ]
}

function ownOf({ account, session, actor }: AccountVisit) {
  return { ...account, actor, session: session.tokenHash }
}
