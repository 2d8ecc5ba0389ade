// The wallet over HTTP: its routes and the frame around every page. Another wallet's data gets the same 404 as data that
// does not exist.
import { Failure, httpStatusOf, type RandomBytes } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../platform/runtime/clock.ts'
import { type AnswerParts, makeAnswers } from '../checkout/answers.ts'
import type { Language } from '../checkout/languages.ts'
import { html } from '../kit/html.ts'
import { isLanguageTag } from '../kit/languages/languages.ts'
import { redirect } from '../kit/layout.ts'
import type { Flash } from '../kit/pages/flash.ts'
import { acceptForms } from '../kit/requests.ts'
import type { Call } from '../kit/routes.ts'
import { serveRoutes } from '../kit/serve-routes.ts'
import { makeWalletDoor } from './door/door.ts'
import { serveNewPin } from './door/new-pin.ts'
import { serveRegistration } from './door/register.ts'
import { serveSignIn } from './door/sign-in.ts'
import { card, sendWalletPage } from './frame.ts'
import { wordsOf } from './languages.ts'
import { WalletLimits } from './limits.ts'
import { historyRoutes } from './pages/history.ts'
import { homeRoutes } from './pages/home.ts'
import { inStoreRoutes } from './pages/in-store.ts'
import { walletPasskeyRoutes } from './pages/passkeys.ts'
import { settingsRoutes } from './pages/settings.ts'
import { topUpRoutes } from './pages/top-up.ts'
import { withdrawRoutes } from './pages/withdraw.ts'
import { makeVisits } from './visits.ts'
import {
  prefix,
  type RunningWallet,
  refusal,
  type Visit,
  type WalletPage,
  type WalletRoute,
} from './wallet.ts'

export interface WalletParts extends AnswerParts {
  readonly random: RandomBytes
  readonly clock: Clock
  readonly takesRegistrations: boolean
  /** Throws while the gateway is still starting. */
  readonly running: () => RunningWallet
}

/** Every page and form for a person who is signed in; the test of all routes reads this list, too. */
export const walletRoutes: readonly WalletRoute[] = [
  ...homeRoutes,
  ...historyRoutes,
  ...inStoreRoutes,
  ...topUpRoutes,
  ...withdrawRoutes,
  ...settingsRoutes,
  ...walletPasskeyRoutes,
  {
    path: '/sign-out',
    async act({ operations, wallet, session, words }) {
      await operations.walletSessions.end(wallet.walletId, session.sessionId)
      return { kind: 'go', to: `${prefix}/sign-in`, flash: words.notes.signedOut, endsSession: true }
    },
  },
]

/** A new passkey with an RSA key has about five. */
const maxFormBytes = 16 * 1024
const languageSeconds = 365 * 24 * 60 * 60

export function serveWallet(listener: FastifyInstance, parts: WalletParts): void {
  const { running, clock, jar } = parts
  const { site, originsOf, sendTooMany, sendTrouble, ...answers } = makeAnswers(parts)
  const limits = new WalletLimits(clock)
  const visits = makeVisits({ ...parts, limits })

  listener.register(async (wallet) => {
    acceptForms(wallet, { bodyLimit: maxFormBytes })
    wallet.addHook('onRequest', async (request, reply) => {
      const waitMs = limits.takeLook(request.ip)
      if (waitMs > 0) return sendTooMany(request, reply, waitMs)
    })
    wallet.setErrorHandler(sendTrouble)
    const door = makeWalletDoor({
      cookies: visits,
      home: prefix,
      nextPattern: /^\/wallet\/(?:history|in-store|scan|top-up|withdraw|settings|passkeys)$/,
      pathTo: (path) => prefix + path,
      originsOf,
      siteOf: visits.siteOf,
      languageOf,
      sendSmall: ({ reply, language }, { title, content, withPasskeyScript }, flash) =>
        sendWalletPage(
          reply,
          { title, content: card(title, html`${content}`), ...(withPasskeyScript && { withPasskeyScript }) },
          { site, language, words: wordsOf[language.tag], flash },
        ),
      limits,
      running,
      takesRegistrations: parts.takesRegistrations,
      nowMs: () => clock.now(),
    })
    serveSignIn(wallet, door)
    serveNewPin(wallet, door)
    serveRegistration(wallet, door)
    serveRoutes<Visit, WalletPage, WalletRoute>(wallet, walletRoutes, {
      prefix,
      cookies: visits,
      maxFileBytes: 0,
      enter,
      originsOf,
      isRightToken: (token, { session }) => visits.isRightToken(token, session),
      errorsOf,
      refusedText: (_visit, [error]) => error?.message ?? '',
      send,
      sendTrouble: (call, { kind }) => {
        const { reply, visit } = call
        if (kind === 'nothing_here') reply.status(404)
        const stale = { kind: 'bad', text: visit.words.refusals.stale } as const
        return send(call, nothingHere(visit), kind === 'stale' ? stale : undefined)
      },
    })
  })

  /** As at the checkout; what the link asks for is kept. */
  function languageOf(request: FastifyRequest, reply: FastifyReply): Language {
    const { lang } = request.query as { lang?: unknown }
    if (isLanguageTag(lang)) reply.header('set-cookie', jar.write('checkout-lang', lang, languageSeconds))
    return answers.languageOf(request)
  }

  async function enter(request: FastifyRequest, reply: FastifyReply): Promise<Visit | undefined> {
    const visit = await visits.readVisit(request, languageOf(request, reply))
    if (visit) return { ...visit, operator: site.brand.name, origins: originsOf(request) }
    reply.header('set-cookie', visits.endSessionCookie(request))
    const [path = ''] = request.url.split('?')
    const next = request.method === 'GET' && path !== prefix ? `?next=${encodeURIComponent(path)}` : ''
    redirect(reply, `${prefix}/sign-in${next}`)
    return undefined
  }

  function send({ reply, visit }: Call<Visit>, page: WalletPage, flash?: Flash): FastifyReply {
    const { language, words, formToken } = visit
    return sendWalletPage(reply, page, { site, language, words, formToken, flash })
  }
}

function errorsOf(error: unknown, { words }: Visit) {
  if (!(error instanceof Failure) || httpStatusOf(error.code) >= 500) return undefined
  return [refusal(words, error.field === 'credential' ? 'passkeyNotTaken' : 'notNow')]
}

function nothingHere({ words: { notFound } }: Visit): WalletPage {
  const content = html`<p>${notFound.text}</p><p><a href="${prefix}">${notFound.back}</a></p>`
  return { title: notFound.heading, content: card(notFound.heading, content) }
}
