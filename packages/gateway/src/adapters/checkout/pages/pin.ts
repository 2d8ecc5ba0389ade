// For a consumer who forgot the PIN: an explanation, and the form for the one-time code and a new PIN.
import { tokenField } from '../../kit/forms/refused-form.ts'
import { html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import type { FramedPage } from './frame.ts'
import { notice } from './notice.ts'
import type { View } from './view.ts'

export function pinPage(view: View): Omit<FramedPage, 'nonce' | 'accentStyle'> {
  const { language, mode, order, path, formToken, note } = view
  const { forgotten, signIn } = language.words
  return {
    language,
    mode,
    brand: view.brand,
    title: forgotten.heading,
    isCompact: order.channel === 'APP',
    main: html`<main id="pin-reset"><div class="card">
<section class="state" aria-labelledby="state">
${notice(view)}
<h1 id="state">${forgotten.heading}</h1>
<p>${forgotten.text}</p>
<form method="post" action="${path}/pin" class="sign-in">
${tokenField(formToken)}
<label for="login">${signIn.login}</label>
<input id="login" name="login" type="text" inputmode="email" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="254" dir="ltr" required value="${note?.login}">
<label for="code">${forgotten.code}</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="16" dir="ltr" required>
<label for="pin">${forgotten.newPin}</label>
<input id="pin" name="pin" type="password" inputmode="numeric" autocomplete="new-password" pattern="[0-9]{6,12}" minlength="6" maxlength="12" dir="ltr" required aria-describedby="pin-hint">
<p class="quiet small" id="pin-hint">${forgotten.hint}</p>
<label for="again">${forgotten.again}</label>
<input id="again" name="again" type="password" inputmode="numeric" autocomplete="new-password" pattern="[0-9]{6,12}" minlength="6" maxlength="12" dir="ltr" required>
<div class="act"><button class="primary" type="submit">${forgotten.submit}</button></div>
</form>
<p class="leave small"><a class="link" href="${path}"><span>${fill(forgotten.back, { merchant: html`<bdi>${view.merchant.name}</bdi>` })}</span></a></p>
</section>
</div></main>`,
  }
}
