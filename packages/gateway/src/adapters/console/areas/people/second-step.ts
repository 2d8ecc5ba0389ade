// The operator's own second step of signing in: switched on with an app, confirmed by a code, switched off with one.
// The secret and the recovery codes are answers to forms, shown this once.

import { Html, html } from '../../../kit/html.ts'
import { qrCode } from '../../../kit/pages/qr.ts'
import { type ConsoleAct, type ConsolePage, type ConsoleRoute, ownAct, type Visit } from '../../console.ts'
import { carried, foldedForm } from '../../forms.ts'
import {
  codeField,
  codeOf,
  demandHavingPassword,
  demandPassword,
  keptAtProvider,
  passwordField,
} from '../../proof.ts'
import { moment } from '../../words.ts'

export const secondStepPath = '/account/second-step'

const act = (name: string, work: ConsoleAct['act']) =>
  ownAct(`${secondStepPath}/${name}`, { page: secondStepPath, fields: ['password', 'code'], act: work })

export const secondStepArea: readonly ConsoleRoute[] = [
  { path: secondStepPath, show },
  act('begin', async (visit, form) => {
    demandHavingPassword(visit)
    await demandPassword(visit, form)
    const begun = await visit.service.secondStep.begin(ownOf(visit))
    return { kind: 'shown_once', page: secretPage(visit, begun) }
  }),
  act('confirm', async (visit, form) => {
    const codes = await visit.service.secondStep.confirm(ownOf(visit), codeOf(form))
    return { kind: 'shown_once', page: codesPage(codes) }
  }),
  act('off', async (visit, form) => {
    await visit.service.secondStep.switchOff(ownOf(visit), codeOf(form))
    return { kind: 'go', to: secondStepPath, note: 'You sign in with the password alone now.' }
  }),
]

async function show(visit: Visit): Promise<ConsolePage> {
  if (!visit.operator.hasPassword)
    return { title: 'Second step', area: 'account', content: html`<p>${keptAtProvider}</p>` }
  const state = await visit.service.secondStep.stateOf(visit.operator.login)
  return {
    title: 'Second step',
    area: 'account',
    content:
      state.kind === 'on'
        ? html`<p>You sign in with a code from your app beside the password, since ${moment(state.sinceMs, visit.nowMs)}.</p>
<p>${state.recoveryCodesLeft} recovery codes are left.${state.recoveryCodesLeft < 3 && ' Switch the second step off and on again for new ones.'}</p>
<div class="acts">${foldedForm(visit, {
            needs: 'viewer',
            action: `${secondStepPath}/off`,
            label: 'Switch off…',
            explains: 'You sign in with the password alone afterwards. Recovery codes stop working.',
            fields: codeField(visit, `${secondStepPath}/off`),
            button: 'Switch the second step off',
            isDangerous: true,
          })}</div>`
        : html`<p>With a second step, signing in wants a code from an app on your phone beside the password: whoever learns the password alone cannot sign in.</p>
<form method="post" action="${secondStepPath}/begin" class="stack narrow">
${carried(visit)}
${passwordField(visit, `${secondStepPath}/begin`)}
<button class="primary">${state.kind === 'begun' ? 'Begin anew' : 'Begin'}</button>
</form>
${state.kind === 'begun' && html`<h2>Confirm</h2><p>A secret was shown and is not confirmed yet.</p>${confirmForm(visit)}`}`,
  }
}

function ownOf({ operator, session, actor }: Visit) {
  return { ...operator, actor, session: session.tokenHash }
}

function confirmForm(visit: Visit): Html {
  return html`<form method="post" action="${secondStepPath}/confirm" class="stack narrow">
${carried({ ...visit, url: secondStepPath })}
${codeField(visit, `${secondStepPath}/confirm`, 'Code that the app shows now')}
<button class="primary">Switch the second step on</button>
</form>`
}

function secretPage(visit: Visit, { secret, uri }: { secret: string; uri: string }): ConsolePage {
  return {
    title: 'Set up the second step',
    area: 'account',
    content: html`<p>Scan this with an app for codes (any that knows TOTP), or type the secret into it. It is not shown again.</p>
<div class="qr" role="img" aria-label="QR code of the secret">${new Html(qrCode(uri))}</div>
<p>Secret</p><p class="secret"><code>${secret.match(/.{1,4}/g)?.join(' ')}</code></p>
<details><summary>The same as an address</summary><p class="wrap"><code>${uri}</code></p></details>
<h2>Confirm</h2>${confirmForm(visit)}`,
  }
}

function codesPage(codes: readonly string[]): ConsolePage {
  return {
    title: 'The second step is on',
    area: 'account',
    content: html`<p>Keep these recovery codes where you will find them without your phone: each signs you in once. They are not shown again.</p>
<ul class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<p><a class="button" href="${secondStepPath}">Done</a></p>`,
  }
}
