// The payment page of a pending order: the payment methods as equal tiles. The wallet's tile expands to sign in or
// confirm. A problem with one method leaves the others in place.
import type { BrokenLimit } from '../../../core/wallets/rules/limits.ts'
import { passkeyForm } from '../../kit/forms/passkey-form.ts'
import { tokenField } from '../../kit/forms/refused-form.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import { icon } from './icons.ts'
import { notice } from './notice.ts'
import { openAttempt, railNotice, railTiles } from './rails.ts'
import type { SignedInWallet, View } from './view.ts'

export function payState(view: View): Content {
  const { rails, order, language } = view
  if (rails.open) return html`${notice(view)}${openAttempt(view, rails.open)}`
  return html`${notice(view)}${railNotice(view)}
<h2 id="state" tabindex="-1">${language.words.rails.heading}</h2>
<div class="methods">
${/* A top-up comes from outside: no wallet pays it. */ order.topsUp === undefined && walletTile(view)}
${rails.offered.length > 0 && railTiles(view)}
</div>`
}

/** Hidden until the last hour: a consumer with a day to pay needs no clock. */
export function countdown({ language, order, nowMs }: View): Html {
  const { left, soon, announceSoon } = language.words.time
  const leftSeconds = Math.max(0, Math.ceil((order.expiresAtMs - nowMs) / 1000))
  const isSoon = leftSeconds <= 60
  const { duration } = language.formats
  const minutes = Math.floor(leftSeconds / 60)
  const time = isSoon ? duration(leftSeconds, 'second') : duration(minutes, 'minute')
  return html`<p class="countdown${isSoon && ' soon'}" id="countdown" role="timer"${minutes >= 60 && html` hidden`} data-left="${left}" data-soon="${soon}" data-announce="${announceSoon}">${icon('clock')}<span>${fill(isSoon ? soon : left, { time: html`<bdi>${time}</bdi>` })}</span></p>`
}

function walletTile(view: View): Html {
  const { language, rails, wallet, visitor, note, isOtherWallet } = view
  const { signIn: words } = language.words
  const isSigningIn = note?.login !== undefined || isOtherWallet
  const isOpen = rails.offered.length === 0 || wallet || visitor || isSigningIn
  const shown = wallet ?? (isSigningIn ? undefined : visitor)
  return html`<details class="method"${isOpen && html` open`}>
<summary class="tile"><span class="mark">${icon('wallet')}</span><strong>${words.heading}</strong></summary>
<div>${shown ? confirm(view, shown) : signIn(view)}</div>
</details>`
}

function signIn(view: View): Html {
  const { path, formToken, language, note } = view
  const { signIn: words } = language.words
  // Everything except the PIN is filled in again, so the PIN field gets the focus.
  const wrong = note?.login !== undefined && html` aria-describedby="notice" autofocus`
  const isWrong = note?.code === 'wrong' && html` aria-invalid="true"`
  return html`<form method="post" action="${path}/sign-in" class="sign-in">
${tokenField(formToken)}
<label for="login">${words.login}</label>
<input id="login" name="login" type="text" inputmode="email" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="254" dir="ltr" required value="${note?.login}">
<div class="beside"><label for="pin">${words.pin}</label><a class="small" href="${path}/pin">${language.words.forgotten.link}</a></div>
<input id="pin" name="pin" type="password" inputmode="numeric" autocomplete="current-password" pattern="[0-9]{4,12}" minlength="4" maxlength="12" dir="ltr" required${isWrong}${wrong}>
${walletLimit(view)}
<button class="primary" type="submit">${words.submit}</button>
<p class="quiet small after">${words.next}</p>
</form>`
}

/** A hint before the PIN that most wallets cannot pay this amount; a wallet may have a higher limit. */
function walletLimit({ walletLimitMinor, order, language: { words, formats } }: View): Content {
  if (walletLimitMinor === undefined || order.paymentAmountMinor <= walletLimitMinor) return undefined
  return html`<p class="notice">${icon('notice')}<span>${fill(words.signIn.limit, { limit: formats.money(walletLimitMinor, order.currency) })}</span></p>`
}

/** A wallet that signed in here has entered its PIN. One that signed in at /wallet enters it with the button. */
function confirm(view: View, wallet: SignedInWallet): Html {
  const { path, formToken, order, language } = view
  const { confirm: words } = language.words
  const { paymentAmountMinor, currency } = order
  const { formats } = language
  const leftMinor = wallet.availableMinor - paymentAmountMinor
  const isProven = wallet === view.wallet
  const another = isProven
    ? html`<form method="post" action="${path}/sign-out" class="after">
${tokenField(formToken)}
<button class="link" type="submit">${words.otherWallet}</button>
</form>`
    : html`<p class="after"><a class="link" href="?wallet=other"><span>${words.otherWallet}</span></a></p>`
  return html`<p>${fill(words.heading, { name: html`<bdi>${wallet.name}</bdi>` })}</p>
<dl class="rows">
<div><dt>${words.balance}</dt><dd>${formats.money(wallet.availableMinor, currency)}</dd></div>
${leftMinor >= 0n && html`<div class="quiet"><dt>${words.after}</dt><dd>${formats.money(leftMinor, currency)}</dd></div>`}
</dl>
${
  wallet.overLimit
    ? html`<p class="notice">${icon('notice')}<span>${overLimit(view, wallet.overLimit)}</span></p>`
    : leftMinor < 0n
      ? html`<p class="notice">${icon('notice')}<span>${fill(words.tooLittle, { missing: formats.money(-leftMinor, currency) })} ${fill(words.tooLittleNext, { topUp: topUpLink(view) })}</span></p>`
      : isProven
        ? html`<form method="post" action="${path}/pay">
${tokenField(formToken)}
${payButton(view)}
</form>`
        : payAsVisitor(view)
}
${another}`
}

function payButton({ language: { words, formats }, order, merchant }: View): Html {
  const amount = formats.money(order.paymentAmountMinor, order.currency)
  if (order.authorization)
    return html`<p class="quiet small">${fill(words.confirm.authorizeNote, { merchant: html`<bdi>${merchant.name}</bdi>` })}</p>
<button class="primary" type="submit">${icon('lock')}<span>${fill(words.confirm.authorize, { amount })}</span></button>`
  return html`<button class="primary" type="submit">${icon('lock')}<span>${fill(words.confirm.pay, { amount })}</span></button>`
}

function payAsVisitor(view: View): Content {
  const { visitor, path, formToken, language, note } = view
  if (!visitor) return undefined
  const { words } = language
  const isWrong = note?.code === 'pinWrong' && html` aria-invalid="true" aria-describedby="notice" autofocus`
  const session = html`${tokenField(formToken)}<input type="hidden" name="session" value="${visitor.sessionId}">`
  return html`<form method="post" action="${path}/pay-with-pin">
${session}
<label for="pin">${words.signIn.pin}</label>
<input id="pin" name="pin" type="password" inputmode="numeric" autocomplete="current-password" pattern="[0-9]{4,12}" minlength="4" maxlength="12" dir="ltr" required${isWrong}>
${payButton(view)}
</form>
${
  visitor.passkeySite &&
  passkeyForm({
    action: `${path}/pay-with-passkey`,
    site: visitor.passkeySite,
    asked: { path: `${path}/passkey` },
    trouble: words.confirm.passkeyTrouble,
    fields: html`${session}<button class="wide" type="submit">${words.confirm.passkey}</button>`,
  })
}`
}

/** A link if there is such a page, otherwise text. */
function topUpLink({ language, order, hasWalletPages }: View): Content {
  const { topUp } = language.words.confirm
  return hasWalletPages ? html`<a href="/wallet/top-up?currency=${order.currency}">${topUp}</a>` : topUp
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
