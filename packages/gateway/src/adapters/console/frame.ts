// The console's frame: areas, search, the signed-in operator, and the small page for visitors who are not signed in.
import type { FastifyReply } from 'fastify'
import type { Operator } from '../../identity/operators/rules/operator.ts'
import { build } from '../../platform/runtime/version.ts'
import { type Asset, assets } from '../kit/assets.ts'
import { type Content, type Html, html } from '../kit/html.ts'
import type { Flash } from '../kit/pages/flash.ts'
import { sendSmall, sendWorkspace, wordmark } from '../kit/pages/frame.ts'
import type { ConsolePage } from './console.ts'
import { navigation, type Waiting } from './navigation.ts'
import { findPath, maxSearchLength } from './search.ts'

type Mode = 'sandbox' | 'live'

export interface Frame {
  readonly mode: Mode
  readonly operator: Operator
  readonly flash: Flash | undefined
  readonly formToken: string
  readonly nonce: string
  readonly waiting: Waiting
}

export function sendConsolePage(reply: FastifyReply, page: ConsolePage, frame: Frame): FastifyReply {
  const { operator, nonce, flash, mode } = frame
  return sendWorkspace(reply, {
    title: `${page.title} · Tillgate ${mode}`,
    heading: page.title,
    beside: page.beside,
    content: page.content,
    flash,
    nonce,
    isLive: page.isLive,
    scripts: [assets.consoleScript, ...(page.withPasskeyScript ? [assets.passkeyScript] : [])],
    brand: wordmark(modeMark(mode)),
    navigation: navigation(page.area, frame.waiting),
    search: {
      path: findPath,
      label: 'Search everything',
      placeholder: 'Search orders, merchants, callbacks, IDs',
      maxLength: maxSearchLength,
    },
    account: html`<strong>${operator.name ?? operator.login}</strong> · ${operator.role}`,
    signOut: { path: '/sign-out', token: frame.formToken },
    footer: html`<footer>Tillgate ${build}</footer>`,
    words: { skip: 'Skip to content', areas: 'Areas', menu: 'Menu', signOut: 'Sign out' },
  })
}

/** Without navigation, because no operator is signed in. */
export function sendSmallPage(
  reply: FastifyReply,
  page: {
    title: string
    mode: Mode
    content: Content
    nonce: string
    flash?: Flash | undefined
    script?: Asset | undefined
  },
): FastifyReply {
  return sendSmall(reply, {
    title: `${page.title} · Tillgate ${page.mode}`,
    heading: page.title,
    content: page.content,
    flash: page.flash,
    nonce: page.nonce,
    ...(page.script && { scripts: [page.script] }),
    brand: wordmark(modeMark(page.mode)),
  })
}

export function sendPlain(
  reply: FastifyReply,
  { title, text }: { title: string; text: string },
): FastifyReply {
  return sendSmall(reply, {
    title,
    heading: title,
    brand: wordmark(),
    content: html`<p>${text}</p>
<p class="acts"><a class="button" href="/">Go to the console</a></p>`,
  })
}

function modeMark(mode: Mode): Html {
  return html`<span class="pill ${mode === 'sandbox' ? 'wait' : 'good'}">${mode}</span>`
}
