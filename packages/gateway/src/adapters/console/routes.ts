// The console over HTTP: its routes, who may use them, and the frame around every page.
import { Failure, merchantIdPattern } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Action } from '../../actions/action.ts'
import { reachingAll } from '../../core/authority/context.ts'
import { isApprovalInUse } from '../../core/authority/rules/approval.ts'
import { mayAct } from '../../core/authority/rules/roles.ts'
import { siteOf } from '../../identity/accounts/rules/passkey-site.ts'
import { needsSecondStep } from '../../identity/operators/rules/operator.ts'
import { pageStatusOf } from '../../platform/http/failures.ts'
import type { SignInCookies } from '../kit/accounts/cookies.ts'
import { secondStepPath } from '../kit/accounts/second-step.ts'
import { downloadLimits } from '../kit/downloads.ts'
import { maxFileBytes } from '../kit/forms/uploads.ts'
import { html } from '../kit/html.ts'
import { redirect } from '../kit/layout.ts'
import type { Flash } from '../kit/pages/flash.ts'
import { savedViewsOf } from '../kit/pages/saved-views.ts'
import { acceptForms, originOf } from '../kit/requests.ts'
import type { Call, Trouble } from '../kit/routes.ts'
import { correctable, serveRoutes } from '../kit/serve-routes.ts'
import { actionRoutes } from './action-forms.ts'
import { accountArea } from './areas/account.ts'
import { approvalsArea } from './areas/approvals.ts'
import { auditArea } from './areas/audit.ts'
import { callbacksArea } from './areas/callbacks.ts'
import { emailsArea } from './areas/emails.ts'
import { endpointsArea } from './areas/endpoints.ts'
import { findArea } from './areas/find.ts'
import { ledgerArea } from './areas/ledger.ts'
import { linksArea } from './areas/links.ts'
import { merchantArea } from './areas/merchant.ts'
import { merchantPayoutsArea } from './areas/merchant-payouts.ts'
import { merchantsArea } from './areas/merchants.ts'
import { correctionsArea } from './areas/money/corrections.ts'
import { disputesArea } from './areas/money/disputes.ts'
import { feesArea } from './areas/money/fees.ts'
import { merchantBillsArea } from './areas/money/merchant-bills.ts'
import { merchantMoneyArea } from './areas/money/merchant-money.ts'
import { moneyArea } from './areas/money/money.ts'
import { orderArea } from './areas/order.ts'
import { ordersArea } from './areas/orders.ts'
import { overviewArea, overviewPath } from './areas/overview.ts'
import { payoutsArea } from './areas/payouts.ts'
import { applicationsArea } from './areas/people/applications.ts'
import { tokensArea } from './areas/people/tokens.ts'
import { railsArea } from './areas/rails.ts'
import { reconciliationArea } from './areas/reconciliation/areas.ts'
import { requestsArea } from './areas/requests.ts'
import { systemArea } from './areas/system.ts'
import { walletsArea } from './areas/wallets.ts'
import type { ConsolePage, ConsoleRoute, Visit } from './console.ts'
import { type Frame, sendConsolePage, sendPlain } from './frame.ts'
import type { ConsoleParts } from './parts.ts'
import { consoleLanguage, serveConsoleSignIn } from './sign-in.ts'
import { suggestionLists } from './suggestions.ts'
import { viewsArea } from './views.ts'
import { actorOf, jarOf, makeConsoleCookies } from './visits.ts'

/** Two public keys fit, and a list of callback hosts. */
const maxFormBytes = 32 * 1024
const nonceBytes = 16

/** Every page, form and file of the console, as data. */
export function consoleRoutes(catalog: readonly Action[]): readonly ConsoleRoute[] {
  return [
    ...overviewArea,
    ...findArea,
    ...ordersArea,
    ...orderArea,
    ...callbacksArea,
    ...merchantsArea,
    ...merchantArea,
    ...endpointsArea,
    ...merchantPayoutsArea,
    ...payoutsArea,
    ...disputesArea,
    ...walletsArea,
    ...linksArea,
    ...railsArea,
    ...moneyArea,
    ...feesArea,
    ...correctionsArea,
    ...merchantMoneyArea,
    ...reconciliationArea,
    ...merchantBillsArea,
    ...ledgerArea,
    ...approvalsArea,
    ...applicationsArea,
    ...auditArea,
    ...systemArea,
    ...requestsArea,
    ...emailsArea,
    ...accountArea,
    ...tokensArea,
    ...viewsArea,
    ...actionRoutes(catalog),
  ]
}

export function serveConsole(listener: FastifyInstance, parts: ConsoleParts): void {
  const cookies = makeConsoleCookies(parts)

  listener.register(async (console) => {
    acceptForms(console, { bodyLimit: maxFormBytes })
    console.setErrorHandler((error: unknown, request, reply) => sendError(error, request, reply, parts))
    serveConsoleSignIn(console, parts, cookies)
    console.get('/', (_request, reply) => redirect(reply, overviewPath))
    serveRoutes<Visit, ConsolePage, ConsoleRoute>(console, consoleRoutes(parts.catalog), {
      prefix: '',
      cookies,
      maxFileBytes,
      downloads: parts.downloads,
      enter: (request, reply) => enter(request, reply, parts, cookies),
      mayUse: (route, { account }) => !('act' in route) || mayAct(account.role, route.needs ?? 'viewer'),
      originsOf: (request) => [originOf(request)],
      isRightToken: (token, { session }) => cookies.isRightToken(token, session),
      prepare: withMerchantId,
      errorsOf: correctable,
      refusedText: ({ language }) => language.words.trouble.refused,
      send: async ({ reply, visit }, page, flash) => {
        const shown = flash?.errors ? { ...page, isLive: false } : page
        return sendConsolePage(reply, await withSuggestions(visit, shown), await frameOf(visit, flash, parts))
      },
      sendTrouble: async (call, trouble) =>
        trouble.kind === 'nothing_here'
          ? sendConsolePage(
              call.reply.status(404),
              nothingHere(call.visit),
              await frameOf(call.visit, undefined, parts),
            )
          : sendTrouble(call, trouble),
    })
  })
}

/** Nothing but the second step is open to an operator whose role requires one that is not set up. */
async function enter(
  request: FastifyRequest,
  reply: FastifyReply,
  { running, clock, catalog, secondStepRoles }: ConsoleParts,
  cookies: SignInCookies,
): Promise<Visit | undefined> {
  const { operations } = running()
  const { operatorAccounts: accounts } = operations
  const found = await cookies.findSession(request, accounts.sessions)
  if (!found) {
    const isPage = request.method === 'GET' && request.url !== '/'
    reply.header('set-cookie', cookies.endSessionCookie(request))
    redirect(reply, isPage ? `/sign-in?next=${encodeURIComponent(request.url)}` : '/sign-in')
    return undefined
  }
  const { account, session } = found
  if (needsSecondStep(account, secondStepRoles) && !request.routeOptions.url?.startsWith(secondStepPath)) {
    const text = 'Your role requires two-step verification. Set it up before you continue.'
    reply.header('set-cookie', cookies.flash.leave(request, { kind: 'bad', text }))
    redirect(reply, secondStepPath)
    return undefined
  }
  const actor = actorOf(request, account.login)
  return {
    accounts,
    operations,
    context: reachingAll(actor),
    account,
    session,
    actor,
    formToken: cookies.formTokenOf(session),
    site: siteOf(request.host),
    nowMs: clock.now(),
    // Safe: Fastify's parameters are texts by name.
    params: request.params as Record<string, string>,
    query: new URLSearchParams(request.url.split('?')[1] ?? ''),
    url: request.url,
    savedViews: savedViewsOf(jarOf(request), request),
    language: consoleLanguage,
    catalog,
  }
}

/** Filters accept a merchant's ID or name; pages see the ID. */
async function withMerchantId(visit: Visit): Promise<Visit> {
  const typed = visit.query.get('merchant')?.trim() ?? ''
  if (typed === '' || merchantIdPattern.test(typed)) return visit
  const found = await visit.operations.orders.searchMerchants(visit.context, typed)
  const same = found.filter(({ name }) => name.toLowerCase() === typed.toLowerCase())
  const [only] = same.length === 1 ? same : found
  if (!only || (found.length > 1 && same.length !== 1)) return { ...visit, merchantChoices: found }
  const query = new URLSearchParams(visit.query)
  query.set('merchant', only.merchantId)
  return { ...visit, query }
}

async function frameOf(
  { operations, account, formToken }: Visit,
  flash: Flash | undefined,
  { mode, random, takesApplications }: ConsoleParts,
): Promise<Frame> {
  const [waiting, applied] = await Promise.all([
    operations.approvals.countWaiting(),
    operations.applications.countWaiting(reachingAll('console')),
  ])
  return {
    mode,
    operator: account,
    flash,
    formToken,
    nonce: Buffer.from(random(nonceBytes)).toString('base64url'),
    // Also shown if it was switched off while something waits.
    waiting: {
      approvals: waiting > 0 || isApprovalInUse(operations.approvalPolicy) ? waiting : undefined,
      applications: applied > 0 || takesApplications ? applied : undefined,
    },
  }
}

function sendTrouble(
  { reply, visit: { account } }: Call<Visit>,
  trouble: Exclude<Trouble<ConsoleRoute>, { kind: 'nothing_here' }>,
): FastifyReply {
  switch (trouble.kind) {
    case 'stale':
      return sendPlain(reply, {
        title: 'This form has expired',
        text: 'Nothing was changed. The page may have been open too long, or another site may have sent the form. Open the page again and repeat the action.',
      })
    case 'wrong_role': {
      const needs = 'needs' in trouble.route ? trouble.route.needs : undefined
      return sendPlain(reply.status(403), {
        title: 'Your role does not allow this',
        text: `Nothing was changed. This action requires the role ${needs}; your role is ${account.role}.`,
      })
    }
    case 'too_many_downloads':
      return sendPlain(reply, {
        title: 'Too many downloads at once',
        text: `${downloadLimits.atOnce} downloads are already running. Try again when one of them has finished.`,
      })
    case 'refused':
      return sendPlain(reply, {
        title: 'Nothing was changed',
        text: trouble.errors.map(({ message }) => message).join(' '),
      })
  }
}

function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { isUnavailable, log }: ConsoleParts,
): FastifyReply {
  const httpStatus = pageStatusOf(error, isUnavailable)
  if (httpStatus === 500) log.error({ requestId: request.id, err: error }, 'internal error')
  if (httpStatus === 503)
    return sendPlain(reply.status(503).header('retry-after', 1), {
      title: 'Temporarily unavailable',
      text: 'The gateway is starting, or its database is unreachable. Nothing was changed. Try again in a moment.',
    })
  return sendPlain(reply.status(httpStatus), {
    title: 'Something went wrong',
    text:
      error instanceof Failure && httpStatus < 500
        ? error.message
        : `The error is logged under the request ID ${request.id}.`,
  })
}

async function withSuggestions(visit: Visit, page: ConsolePage): Promise<ConsolePage> {
  const forms = html`${page.beside}${page.content}`
  return { ...page, content: html`${page.content}${await suggestionLists(visit, forms)}` }
}

function nothingHere({ url }: Visit): ConsolePage {
  return {
    title: 'Page not found',
    area: undefined,
    content: html`<p class="wrap">No page exists at ${url.split('?')[0]}. Check the address, or search for orders, merchants, wallets, callbacks and requests by ID.</p>`,
  }
}
