// The wallet over HTTP: one guard before every page and every form. Whoever is not signed in sees the sign-in page; a form must
// come from our own page and bear the token of the session. What is not in the wallet is answered as what does not exist.
import type { RandomBytes } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../platform/runtime/clock.ts'
import { type AnswerParts, makeAnswers } from '../checkout/answers.ts'
import type { Language } from '../checkout/languages.ts'
import { html } from '../kit/html.ts'
import { isLanguageTag } from '../kit/languages/languages.ts'
import { redirect } from '../kit/layout.ts'
import { acceptForms, isFromElsewhere, readForm } from '../kit/requests.ts'
import { serveDoor } from './door.ts'
import { card, type Framing, sendWalletPage } from './frame.ts'
import { WalletLimits } from './limits.ts'
import { homeRoutes } from './pages/home.ts'
import { moneyRoutes } from './pages/money.ts'
import { passkeyRoutes } from './pages/passkeys.ts'
import { settingsRoutes } from './pages/settings.ts'
import { makeVisits } from './visits.ts'
import {
  prefix,
  type Visit,
  type WalletAct,
  type WalletFile,
  type WalletPage,
  type WalletRoute,
  type WalletService,
  type WalletView,
} from './wallet.ts'

export interface WalletParts extends AnswerParts {
  readonly random: RandomBytes
  readonly clock: Clock
  /** Throws while the gateway is still starting. */
  readonly running: () => WalletService
}

/** Every page and every form of whoever is signed in: what is served, and what the test of all routes goes through. */
export const walletRoutes: readonly WalletRoute[] = [
  ...homeRoutes,
  ...moneyRoutes,
  ...settingsRoutes,
  ...passkeyRoutes,
  {
    path: '/sign-out',
    async act({ service, wallet, session, words }) {
      await service.sessions.end(wallet.walletId, session.sessionId)
      return { kind: 'left', to: `${prefix}/sign-in`, flash: words.notes.signedOut }
    },
    back: async () => undefined,
  },
]

/** A new passkey with an RSA key has about five. */
const maxFormBytes = 16 * 1024
const languageSeconds = 365 * 24 * 60 * 60

interface Call {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly visit: Visit
}

export function serveWallet(listener: FastifyInstance, parts: WalletParts): void {
  const { running, clock, random, jar } = parts
  const { site, originsOf, sendTooMany, sendTrouble, ...answers } = makeAnswers(parts)
  const limits = new WalletLimits(clock)
  const visits = makeVisits({ jar, random, clock, running, limits, publicUrl: parts.publicUrl })

  listener.register(async (wallet) => {
    acceptForms(wallet, { bodyLimit: maxFormBytes })
    wallet.addHook('onRequest', async (request, reply) => {
      const waitMs = limits.takeLook(request.ip)
      if (waitMs > 0) return sendTooMany(request, reply, waitMs)
    })
    wallet.setErrorHandler(sendTrouble)
    serveDoor(wallet, {
      visits,
      limits,
      running,
      site,
      languageOf,
      originsOf,
      nowMs: () => clock.now(),
    })
    for (const route of walletRoutes) {
      const path = prefix + route.path
      if ('act' in route)
        wallet.post(
          path,
          guarded((call) => take(call, route)),
        )
      else
        wallet.get(
          path,
          guarded((call) => ('file' in route ? download(call, route) : view(call, route))),
        )
    }
  })

  /** As at the checkout; what the link asks for is kept. */
  function languageOf(request: FastifyRequest, reply: FastifyReply): Language {
    const { lang } = request.query as { lang?: unknown }
    if (isLanguageTag(lang)) reply.header('set-cookie', jar.write('checkout-lang', lang, languageSeconds))
    return answers.languageOf(request)
  }

  function guarded(answer: (call: Call) => Promise<FastifyReply>) {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const visit = await visits.readVisit(request, languageOf(request, reply))
      if (visit) return answer({ request, reply, visit: { ...visit, operator: site.brand.name } })
      reply.header('set-cookie', visits.endSessionCookie(request))
      const [path = ''] = request.url.split('?')
      const next = request.method === 'GET' && path !== prefix ? `?next=${encodeURIComponent(path)}` : ''
      return redirect(reply, `${prefix}/sign-in${next}`)
    }
  }

  async function view({ request, reply, visit }: Call, { show }: WalletView): Promise<FastifyReply> {
    const page = await show(visit)
    if (!page) return send(reply.status(404), nothingHere(visit), visit)
    const flash = visits.flash.read(request)
    if (flash) reply.header('set-cookie', visits.flash.end(request))
    return send(reply, page, visit, { flash })
  }

  async function download({ reply, visit }: Call, { file }: WalletFile): Promise<FastifyReply> {
    const made = await file(visit)
    if (!made) return send(reply.status(404), nothingHere(visit), visit)
    return reply
      .header('content-type', made.type)
      .header('content-disposition', `attachment; filename="${made.name}"`)
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff')
      .send(made.bytes)
  }

  async function take({ request, reply, visit }: Call, route: WalletAct): Promise<FastifyReply> {
    const form = readForm(request.body)
    const isOurs =
      !isFromElsewhere(request, originsOf(request)) &&
      visits.isRightToken(form.get('token') ?? '', visit.session)
    const done = isOurs
      ? await route.act(visit, form)
      : ({ kind: 'refused', refusal: { code: 'stale' } } as const)
    if (done.kind === 'refused') {
      const { refusal } = done
      const page = await route.back({ ...visit, refused: { ...refusal, typed: form } })
      const status = isOurs ? 422 : 403
      return send(reply.status(status), page ?? nothingHere(visit), visit, { refusal })
    }
    if (done.kind === 'shown') return send(reply, done.page, visit)
    if (done.flash !== undefined)
      reply.header('set-cookie', visits.flash.leave(request, { kind: 'good', text: done.flash }))
    if (done.kind === 'go' && done.cookie) reply.header('set-cookie', done.cookie)
    if (done.kind === 'left') reply.header('set-cookie', visits.endSessionCookie(request))
    return redirect(reply, done.to)
  }

  function send(
    reply: FastifyReply,
    page: WalletPage,
    { language, words, formToken }: Visit,
    said: Pick<Framing, 'flash' | 'refusal'> = {},
  ): FastifyReply {
    return sendWalletPage(reply, page, { site, language, words, formToken, ...said })
  }
}

function nothingHere({ words: { notFound } }: Visit): WalletPage {
  const content = html`<p>${notFound.text}</p><p><a href="${prefix}">${notFound.back}</a></p>`
  return { title: notFound.heading, content: card(notFound.heading, content) }
}
