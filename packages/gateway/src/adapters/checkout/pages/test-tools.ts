// The sandbox's test tools, in a drawer outside the page that a live consumer sees.
import { remember } from '../../../platform/runtime/remember.ts'
import { bankChoices, testBankRailId } from '../../../sandbox/test-bank.ts'
import { tokenField } from '../../kit/forms/refused-form.ts'
import { type Content, html } from '../../kit/html.ts'
import type { Language } from '../languages.ts'
import type { View } from './view.ts'

export function testTools(view: View): Content {
  const { words } = view.language
  return html`<aside class="tools"><details open>
<summary><span class="test">${words.testTools.label}</span><span>${words.testTools.heading}</span></summary>
<div><p class="quiet small">${words.testTools.hint}</p>
${/* A top-up comes from outside: no wallet pays it. */ view.order.topsUp === undefined && testWallets(view)}
${testBank(view)}</div>
</details></aside>`
}

function testWallets({ path, formToken, language }: View): Content {
  const { heading, hint } = language.words.testWallets
  return html`<h2>${heading}</h2>
<p class="quiet small">${hint}</p>
<form method="post" action="${path}/pay-with-test-wallet" class="test-wallets">
${tokenField(formToken)}
${walletButtons(language)}
</form>`
}

/** The same on all pages of a language. */
const walletButtons = remember(
  ({ words }: Language) => {
    const { heading: _, hint: __, ...wallets } = words.testWallets
    return html`${Object.entries(wallets).map(
      ([behaviour, { name, does }]) =>
        html`<button type="submit" name="wallet" value="${behaviour}"><strong>${name}</strong><span class="quiet">${does}</span></button>`,
    )}`
  },
  { keyOf: ({ tag }) => tag, most: 100 },
)

function testBank({ path, formToken, language, rails }: View): Content {
  if (!rails.offered.some(({ railId }) => railId === testBankRailId)) return undefined
  const { hint, ...choices } = language.words.testBank
  return html`<h2>${hint}</h2>
<form method="post" action="${path}/pay-with-test-bank" class="test-bank">
${tokenField(formToken)}
${bankChoices.map((choice) => html`<button type="submit" name="choice" value="${choice}">${choices[choice]}</button>`)}
</form>`
}
