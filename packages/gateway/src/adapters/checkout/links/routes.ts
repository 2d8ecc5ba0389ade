// Payment links over HTTP: the page, its button, and its QR code. Links are public, so opening one is cheap and writes
// nothing, and orders are limited per address and per link.

import type { RandomBytes } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { emvCode } from '../../../core/orders/rules/emv-code.ts'
import { linkUrl } from '../../../finance/links/answer-link.ts'
import type { OpenedLink, OpenLink } from '../../../finance/links/open-link.ts'
import { readTypedAmount } from '../../../finance/links/rules/typed-amount.ts'
import { addressKey } from '../../../platform/http/admission/addresses.ts'
import type { Clock } from '../../../platform/runtime/clock.ts'
import { makeTurns } from '../../../platform/runtime/turns.ts'
import { isLanguageTag } from '../../kit/languages/languages.ts'
import { redirect } from '../../kit/layout.ts'
import { sendQr } from '../../kit/pages/qr.ts'
import { acceptForms, isFromElsewhere, readForm } from '../../kit/requests.ts'
import { accentStyle } from '../accent.ts'
import { type AnswerParts, makeAnswers } from '../answers.ts'
import { sendFramed } from '../pages/frame.ts'
import { unfinishedPage } from '../pages/plain.ts'
import { LinkLimits } from './limits.ts'
import { type LinkView, linkPage } from './page.ts'

export interface LinkParts extends AnswerParts {
  readonly random: RandomBytes
  readonly clock: Clock
  /** Throws while the gateway is still starting. */
  readonly links: () => OpenLink
}

const path = '/l/:linkId'
const maxFormBytes = 4 * 1024
const languageSeconds = 365 * 24 * 60 * 60
const formNumberPattern = /^[0-9a-f]{20}$/
const formNumberBytes = 10
const nonceBytes = 16
/** Low, so that a crowd at a link does not delay merchants' orders. */
const ordersAtOnce = 2

interface LinkRoute {
  readonly Params: { readonly linkId: string }
}
type LinkRequest = FastifyRequest<LinkRoute>

export function serveLinks(listener: FastifyInstance, parts: LinkParts): void {
  const { site, languageOf, originsOf, sendNotFound, sendTooMany, sendTrouble } = makeAnswers(parts)
  const limits = new LinkLimits(parts.clock)
  const inTurn = makeTurns(ordersAtOnce)

  listener.register(async (links) => {
    acceptForms(links, { bodyLimit: maxFormBytes })
    links.addHook('onRequest', async (request, reply) => {
      const waitMs = limits.takeLook(request.ip)
      if (waitMs > 0) return sendTooMany(request, reply, waitMs)
    })
    links.setErrorHandler(sendTrouble)
    links.get<LinkRoute>(path, (request, reply) =>
      withLink(request, reply, async (opened) => show(opened, request, reply)),
    )
    links.post<LinkRoute>(path, (request, reply) =>
      withLink(request, reply, (opened) => begin(opened, request, reply)),
    )
    for (const format of ['svg', 'png'] as const) {
      links.get<LinkRoute>(`${path}/qr.${format}`, (request, reply) =>
        withLink(request, reply, async ({ link }) => sendQr(reply, linkUrl(link, parts.publicUrl()), format)),
      )
      links.get<LinkRoute>(`${path}/emv.${format}`, (request, reply) =>
        withLink(request, reply, async (opened) => sendQr(reply, emvCodeOfLink(opened), format)),
      )
    }
    links.all('/l', (request, reply) => sendNotFound(request, reply))
    links.all('/l/*', (request, reply) => sendNotFound(request, reply))
  })

  async function withLink(
    request: LinkRequest,
    reply: FastifyReply,
    answer: (opened: OpenedLink) => Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    const opened = await parts.links().find(request.params.linkId)
    return opened ? answer(opened) : sendNotFound(request, reply)
  }

  function emvCodeOfLink({ link, merchant }: OpenedLink): string {
    return emvCode({
      url: linkUrl(link, parts.publicUrl()),
      initiation: link.uses === 'once' ? 'dynamic' : 'static',
      merchantName: merchant.name,
      place: site.brand.place,
      currency: link.currency,
      amountMinor: link.amountMinor,
      number: link.linkNo,
    })
  }

  function show(
    opened: OpenedLink,
    request: LinkRequest,
    reply: FastifyReply,
    refused?: LinkView['refused'],
  ): FastifyReply {
    const { lang } = request.query as { lang?: unknown }
    if (isLanguageTag(lang))
      reply.header('set-cookie', parts.jar.write('checkout-lang', lang, languageSeconds))
    const style = accentStyle(opened.merchant.accentColour)
    const page = linkPage({
      ...opened,
      ...site,
      language: languageOf(request),
      path: `/l/${opened.link.linkId}`,
      formNumber: Buffer.from(parts.random(formNumberBytes)).toString('hex'),
      refused,
    })
    return sendFramed(reply, {
      ...page,
      nonce: Buffer.from(parts.random(nonceBytes)).toString('base64url'),
      ...(style !== undefined && { accentStyle: style }),
    })
  }

  function sendUnfinished(
    { merchant }: OpenedLink,
    request: LinkRequest,
    reply: FastifyReply,
    waitMs: number,
  ): FastifyReply {
    const page = unfinishedPage(languageOf(request), { merchant, waitMs })
    reply.status(429).header('retry-after', Math.ceil(waitMs / 1_000))
    return sendFramed(reply, { ...site, ...page })
  }

  async function begin(opened: OpenedLink, request: LinkRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { link } = opened
    const form = readForm(request.body)
    const formNumber = form.get('number') ?? ''
    // The form is not from our page: no order is created, and the page is shown again.
    if (isFromElsewhere(request, originsOf(request)) || !formNumberPattern.test(formNumber))
      return redirect(reply, `/l/${link.linkId}`)
    const waitMs = limits.takePress(request.ip, link.linkId)
    if (waitMs > 0) return sendTooMany(request, reply, waitMs)
    const typed = form.get('amount') ?? ''
    const amountMinor = link.amountMinor ?? readTypedAmount(typed, link.currency)
    const refuse = (why: 'wrong' | 'tooLittle' | 'tooMuch') =>
      show(opened, request, reply.status(422), { typed: typed.slice(0, 32), why })
    if (amountMinor === undefined) return refuse('wrong')
    const outcome = await inTurn(() =>
      parts.links().begin(opened, { amountMinor, formNumber, from: addressKey(request.ip) }),
    )
    switch (outcome.kind) {
      case 'begun':
        return redirect(reply, outcome.path)
      case 'out_of_bounds':
        return refuse(outcome.bound)
      case 'unfinished':
        return sendUnfinished(opened, request, reply, outcome.waitMs)
      case 'not_payable':
        return redirect(reply, `/l/${link.linkId}`)
    }
  }
}
