// An order that can be paid: sign in, or see the balance and confirm; in the sandbox test wallets by one tap.

import type { BrokenLimit } from '../../../core/wallets/rules/limits.ts'
import { remember } from '../../../platform/runtime/remember.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import type { Language } from '../languages.ts'
import { icon } from './icons.ts'
import { notice } from './notice.ts'
import { openAttempt, railChoices } from './rails.ts'
import { token } from './token.ts'
import type { SignedInWallet, View } from './view.ts'

export function payState(view: View): Content {
  return html`${countdown(view)}
${notice(view)}
${view.rails.open ? openAttempt(view, view.rails.open) : view.wallet ? confirm(view, view.wallet) : ways(view)}`
}

export function countdown({ language, order, nowMs }: View): Html {
  const { left, soon, announceSoon } = language.words.time
  const leftSeconds = Math.max(0, Math.ceil((order.expiresAtMs - nowMs) / 1000))
  const isSoon = leftSeconds <= 60
  const { duration } = language.formats
  const minutes = Math.floor(leftSeconds / 60)
  const time = isSoon
    ? duration(leftSeconds, 'second')
    : minutes < 120
      ? duration(minutes, 'minute')
      : duration(Math.floor(minutes / 60), 'hour')
  return html`<p class="countdown${isSoon && ' soon'}" id="countdown" role="timer" data-left="${left}" data-soon="${soon}" data-announce="${announceSoon}">${icon('clock')}<span>${fill(isSoon ? soon : left, { time: html`<bdi>${time}</bdi>` })}</span></p>`
}

/** The sandbox offers its test wallets first, unless somebody is just signing in. */
function ways(view: View): Html {
  // A top-up comes from outside: no wallet pays it.
  if (view.order.topsUp !== undefined) return railChoices(view)
  const { signIn: words, testWallets: testWords } = view.language.words
  const isSigningIn = view.note?.login !== undefined
  const hasRails = view.rails.offered.length > 0 && !isSigningIn
  if (view.mode === 'live' || isSigningIn) {
    if (hasRails)
      return html`${railChoices(view)}
${fold(words.heading, signIn(view))}`
    return html`<h2 id="state">${words.heading}</h2>
${signIn(view)}
${view.mode === 'sandbox' && fold(testWords.heading, testWallets(view))}`
  }
  return html`${hasRails && railChoices(view)}
<h2${!hasRails && html` id="state"`}>${testWords.heading}</h2>
${testWallets(view)}
${fold(words.instead, signIn(view))}`
}

function fold(heading: string, content: Html): Html {
  return html`<details class="fold">
<summary>${heading}</summary>
${content}
</details>`
}

function signIn(view: View): Html {
  const { path, formToken, language, note } = view
  const { signIn: words } = language.words
  // What was typed is kept but for the PIN, so that is where to go on.
  const wrong = note?.login !== undefined && html` aria-describedby="notice" autofocus`
  const isWrong = note?.code === 'wrong' && html` aria-invalid="true"`
  return html`<form method="post" action="${path}/sign-in" class="sign-in">
${token(formToken)}
<label for="login">${words.login}</label>
<input id="login" name="login" type="text" inputmode="email" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="254" dir="ltr" required value="${note?.login}">
<label for="pin">${words.pin}</label>
<input id="pin" name="pin" type="password" inputmode="numeric" autocomplete="current-password" pattern="[0-9]{4,12}" minlength="4" maxlength="12" dir="ltr" required${isWrong}${wrong}>
${walletLimit(view)}
<div class="act"><button class="primary" type="submit">${words.submit}</button>
<p class="quiet small">${words.next}</p></div>
</form>
<p class="small forgotten"><a class="link" href="${path}/pin">${language.words.forgotten.link}</a></p>`
}

/** Before a PIN is asked for: that most wallets cannot pay this. One may have a higher limit of its own. */
function walletLimit({ walletLimitMinor, order, language: { words, formats } }: View): Content {
  if (walletLimitMinor === undefined || order.paymentAmountMinor <= walletLimitMinor) return undefined
  return html`<p class="notice">${icon('notice')}<span>${fill(words.signIn.limit, { limit: formats.money(walletLimitMinor, order.currency) })}</span></p>`
}

function testWallets({ path, formToken, language }: View): Html {
  return html`<p class="quiet small">${language.words.testWallets.hint}</p>
<form method="post" action="${path}/pay-with-test-wallet" class="test-wallets">
${token(formToken)}
${walletButtons(language)}
</form>`
}

/** On every page of a language the same. */
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

function confirm(view: View, wallet: SignedInWallet): Html {
  const { path, formToken, order, language } = view
  const { confirm: words } = language.words
  const { paymentAmountMinor, currency } = order
  const { formats } = language
  const leftMinor = wallet.availableMinor - paymentAmountMinor
  const cannotPay = leftMinor < 0n || wallet.overLimit !== undefined
  return html`<h2 id="state">${fill(words.heading, { name: html`<bdi>${wallet.name}</bdi>` })}</h2>
<dl class="rows">
<div><dt>${words.balance}</dt><dd>${formats.money(wallet.availableMinor, currency)}</dd></div>
${leftMinor >= 0n && html`<div class="quiet"><dt>${words.after}</dt><dd>${formats.money(leftMinor, currency)}</dd></div>`}
</dl>
${
  wallet.overLimit
    ? html`<p class="notice">${icon('notice')}<span>${overLimit(view, wallet.overLimit)}</span></p>`
    : leftMinor < 0n
      ? html`<p class="notice">${icon('notice')}<span>${fill(words.tooLittle, { missing: formats.money(-leftMinor, currency) })}</span></p>
<p class="quiet small">${fill(words.tooLittleNext, { topUp: topUpLink(view) })}</p>`
      : html`<form method="post" action="${path}/pay" class="act">
${token(formToken)}
<button class="primary" type="submit">${fill(words.pay, { amount: formats.money(paymentAmountMinor, currency) })}</button>
</form>`
}
<form method="post" action="${path}/sign-out"${cannotPay && html` class="act"`}>
${token(formToken)}
<button class="${cannotPay ? 'wide button' : 'link'}" type="submit">${words.otherWallet}</button>
</form>`
}

/** Where there is such a page; in words alone where there is none. */
function topUpLink({ language, hasWalletPages }: View): Content {
  const { topUp } = language.words.confirm
  return hasWalletPages ? html`<a href="/wallet/top-up">${topUp}</a>` : topUp
}

function overLimit({ language, order: { currency } }: View, limit: BrokenLimit): Content {
  const { words, formats } = language
  return limit.kind === 'payment'
    ? fill(words.confirm.overPayment, { limit: formats.money(limit.limitMinor, currency) })
    : fill(words.confirm.overDay, {
        limit: formats.money(limit.limitMinor, currency),
        left: formats.money(limit.leftMinor, currency),
      })
}
