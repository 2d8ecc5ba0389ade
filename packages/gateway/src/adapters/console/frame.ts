// What stands around every page of the console: the navigation, the sandbox's mark, a note about what was just done,
// and who is signed in.
import type { FastifyReply } from 'fastify'
import type { Operator } from '../../identity/operators/rules/operator.ts'
import { type Asset, assets } from '../kit/assets.ts'
import { fieldId } from '../kit/forms/form-fields.ts'
import { type Html, html } from '../kit/html.ts'
import { sendPage } from '../kit/layout.ts'
import type { ConsolePage } from './console.ts'
import { navigation, type Waiting } from './navigation.ts'
import { findPath, maxSearchLength } from './search.ts'
import type { Note } from './visits.ts'

export interface Frame {
  readonly mode: 'sandbox' | 'live'
  readonly operator: Operator
  readonly note: Note | undefined
  readonly formToken: string
  readonly nonce: string
  readonly waiting: Waiting
}

export function sendConsolePage(reply: FastifyReply, page: ConsolePage, frame: Frame): FastifyReply {
  const { operator, nonce, note } = frame
  const scripts = [assets.consoleScript, ...(page.withPasskeyScript ? [assets.passkeyScript] : [])]
  return sendPage(reply, {
    title: `${page.title} · Tillgate ${frame.mode}`,
    nonce,
    styles: [assets.consoleStyle],
    bodyClass: 'console',
    head: html`${scripts.map(({ path }) => html`<script nonce="${nonce}" type="module" src="${path}"></script>`)}`,
    content: html`<a class="skip" href="#main">To the content</a>
<header class="side">
<a class="brand" href="/">Tillgate <span class="mode ${frame.mode}">${frame.mode}</span></a>
<form class="find" role="search" aria-label="Everything" action="${findPath}"><input type="search" name="q" aria-label="Search everything" placeholder="Search" maxlength="${maxSearchLength}" autocomplete="off" spellcheck="false"></form>
${navigation(page.area, frame.waiting)}
<form class="who" method="post" action="/sign-out"><input type="hidden" name="token" value="${frame.formToken}">
<span>${operator.login}<span class="quiet"> · ${operator.role}</span></span>
<button class="plain">Sign out</button></form>
</header>
<main id="main" tabindex="-1"${page.isLive && html` data-live`}>
${note && noteLine(note)}
<h1>${page.title}</h1>
${page.content}
</main>`,
  })
}

/** Without navigation: nobody is signed in. */
export function sendSmallPage(
  reply: FastifyReply,
  page: { title: string; mode: 'sandbox' | 'live'; content: Html; script?: Asset | undefined },
): FastifyReply {
  return sendCard(reply, {
    title: `${page.title} · Tillgate ${page.mode}`,
    script: page.script,
    content: html`<p class="brand">Tillgate <span class="mode ${page.mode}">${page.mode}</span></p>
${page.content}`,
  })
}

export function sendPlain(
  reply: FastifyReply,
  { title, text }: { title: string; text: string },
): FastifyReply {
  return sendCard(reply, {
    title,
    content: html`<h1>${title}</h1>
<p>${text}</p>
<p><a class="button" href="/">To the console</a></p>`,
  })
}

function sendCard(
  reply: FastifyReply,
  { title, content, script }: { title: string; content: Html; script?: Asset | undefined },
): FastifyReply {
  return sendPage(reply, {
    title,
    ...(script && { script }),
    styles: [assets.consoleStyle],
    bodyClass: 'console small-page',
    content: html`<main class="card">
${content}
</main>`,
  })
}

/** What was just done, or why it was not. */
export function noteLine({ kind, text, errors }: Note): Html {
  if (!errors) return html`<p class="note ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${text}</p>`
  const hasField = errors.some(({ field }) => field !== undefined)
  return html`<div class="note ${kind}" role="alert" tabindex="-1"${!hasField && html` autofocus`}>${text}<ul>${errors.map(
    ({ field, message }) =>
      html`<li>${field === undefined ? message : html`<a href="#${fieldId(field)}">${message}</a>`}</li>`,
  )}</ul></div>`
}
