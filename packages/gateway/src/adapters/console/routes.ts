// The console over HTTP: one guard before every page and every action. Whoever is not signed in sees the sign-in page;
// an action must come from our own page, bear the session's token, and be allowed to the operator's role. Every action is
// a form that is answered with a redirect, so that reloading never does anything twice; one that is refused comes back.
import { Failure, httpStatusOf, KeyError, merchantIdPattern } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Action } from '../../actions/action.ts'
import { toFieldError } from '../../actions/read-input.ts'
import { reachingAll } from '../../core/audit/context.ts'
import { isApprovalInUse } from '../../core/audit/rules/approval.ts'
import { mayAct } from '../../core/audit/rules/roles.ts'
import type { Session } from '../../identity/accounts/rules/account.ts'
import { siteOf } from '../../identity/accounts/rules/passkey.ts'
import type { Operator } from '../../identity/operators/rules/operator.ts'
import { pageStatusOf } from '../../platform/http/failures.ts'
import { downloadLimits } from '../kit/downloads.ts'
import { acceptUploads, maxFileBytes, readSentForm } from '../kit/forms/uploads.ts'
import { html } from '../kit/html.ts'
import { redirect } from '../kit/layout.ts'
import type { Flash } from '../kit/pages/flash.ts'
import { acceptForms, isFromElsewhere, originOf } from '../kit/requests.ts'
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
import { feesArea } from './areas/money/fees.ts'
import { merchantBillsArea } from './areas/money/merchant-bills.ts'
import { merchantMoneyArea } from './areas/money/merchant-money.ts'
import { moneyArea } from './areas/money/money.ts'
import { orderArea } from './areas/order.ts'
import { ordersArea } from './areas/orders.ts'
import { overviewArea, overviewPath } from './areas/overview.ts'
import { payoutsArea } from './areas/payouts.ts'
import { applicationsArea } from './areas/people/applications.ts'
import { passkeysArea } from './areas/people/passkeys.ts'
import { secondStepArea, secondStepPath } from './areas/people/second-step.ts'
import { tokensArea } from './areas/people/tokens.ts'
import { railsArea } from './areas/rails.ts'
import { reconciliationArea } from './areas/reconciliation/areas.ts'
import { requestsArea } from './areas/requests.ts'
import { systemArea } from './areas/system.ts'
import { walletsArea } from './areas/wallets.ts'
import type {
  ConsoleAct,
  ConsoleDownload,
  ConsolePage,
  ConsoleRoute,
  ConsoleView,
  Done,
  Visit,
} from './console.ts'
import { type Frame, sendConsolePage, sendPlain } from './frame.ts'
import type { ConsoleParts } from './parts.ts'
import { serveConsoleSignIn } from './sign-in.ts'
import { suggestionLists } from './suggestions.ts'
import { actorOf, makeConsoleCookies } from './visits.ts'

/** Two public keys fit, and a list of callback hosts. */
const maxFormBytes = 32 * 1024
const nonceBytes = 16

interface SignedIn {
  readonly account: Operator
  readonly session: Session
}

/** A request of somebody who is signed in, and its answer. */
interface Call {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly signedIn: SignedIn
  readonly visit: Visit
}

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
    ...secondStepArea,
    ...passkeysArea,
    ...tokensArea,
    ...actionRoutes(catalog),
  ]
}

export function serveConsole(listener: FastifyInstance, parts: ConsoleParts): void {
  const { running, downloads } = parts
  const routes = consoleRoutes(parts.catalog)
  const cookies = makeConsoleCookies(parts)

  listener.register(async (console) => {
    acceptForms(console, { bodyLimit: maxFormBytes })
    console.setErrorHandler((error: unknown, request, reply) => {
      const httpStatus = pageStatusOf(error, parts.isUnavailable)
      if (httpStatus === 500) parts.log.error({ requestId: request.id, err: error }, 'internal error')
      if (httpStatus === 503) reply.header('retry-after', 1)
      return sendPlain(reply.status(httpStatus), {
        title: httpStatus === 503 ? 'Temporarily unavailable' : 'Something went wrong',
        text:
          httpStatus === 503
            ? 'The gateway is starting, or its database is unreachable. Nothing was changed. Try again in a moment.'
            : error instanceof Failure && httpStatus < 500
              ? error.message
              : `The error is logged under the request ID ${request.id}.`,
      })
    })
    serveConsoleSignIn(console, parts, cookies)
    console.get('/', (_request, reply) => redirect(reply, overviewPath))
    for (const route of routes) {
      const answer = guarded(
        'show' in route
          ? (call) => view(call, route.show)
          : 'download' in route
            ? (call) => download(call, route.download)
            : (call) => take(call, route),
      )
      if (!('act' in route)) console.get(route.path, answer)
      else if (!route.takesFile) console.post(route.path, answer)
      else
        console.register(async (files) => {
          acceptUploads(files)
          files.post(route.path, { config: { acceptsMultipart: true } }, answer)
        })
    }
  })

  function guarded(answer: (call: Call) => Promise<FastifyReply>) {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const signedIn = await cookies.findSession(request, running().sessions)
      if (!signedIn) return goSignIn(request, reply)
      if (mustSetUp(request, signedIn)) return goSetUp(request, reply)
      return answer({ request, reply, signedIn, visit: visitOf(request, signedIn) })
    }
  }

  async function view(call: Call, show: ConsoleView['show']): Promise<FastifyReply> {
    const page = await show(await byMerchantId(call.visit))
    if (!page) return sendNothingHere(call)
    const flash = cookies.flash.read(call.request)
    if (flash) call.reply.header('set-cookie', cookies.flash.end(call.request))
    return sendConsolePage(
      call.reply,
      await withSuggestions(call.visit, page),
      await frameOf(call.signedIn, flash),
    )
  }

  async function download(call: Call, make: ConsoleDownload['download']): Promise<FastifyReply> {
    const { reply } = call
    const made = await make(await byMerchantId(call.visit))
    if (!made) return sendNothingHere(call)
    const stream = downloads.start(made.content)
    if (!stream)
      return sendPlain(reply.status(503).header('retry-after', 60), {
        title: 'Too many downloads at once',
        text: `${downloadLimits.atOnce} downloads are already running. Try again when one of them has finished.`,
      })
    return reply
      .header('content-type', made.type)
      .header('content-disposition', `attachment; filename="${made.fileName}"`)
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff')
      .send(stream)
  }

  async function take({ request, reply, signedIn, visit }: Call, route: ConsoleAct): Promise<FastifyReply> {
    if (!mayAct(signedIn.account.role, route.needs))
      return sendPlain(reply.status(403), {
        title: 'Your role does not allow this',
        text: `Nothing was changed. This action requires the role ${route.needs}; your role is ${signedIn.account.role}.`,
      })
    const sent = isFromElsewhere(request, [originOf(request)])
      ? undefined
      : await readSentForm(request, {
          isRightToken: (token) => cookies.isRightToken(token, signedIn.session),
          fileBytes: maxFileBytes,
        })
    if (!sent)
      return sendPlain(reply.status(403), {
        title: 'This form is not from this page',
        text: 'Nothing was done. The page may be old, or another site tried to act in your name. Open the page again and repeat the act there.',
      })
    const { fields: form, files } = sent
    const done = await route.act(visit, form, files).catch((error: unknown): Done => {
      // What the operator can mend is said at the form; the rest is handled as everywhere.
      if (error instanceof KeyError || (error instanceof Failure && httpStatusOf(error.code) < 500))
        return { kind: 'refused', errors: [toFieldError(error)] }
      throw error
    })
    if (done.kind === 'shown_once')
      return sendConsolePage(reply, done.page, await frameOf(signedIn, undefined))
    const page = pageOf(form.get('from') ?? '') ?? pageOf(route.back(visit, form))
    if (done.kind === 'go')
      return go(request, reply, done.to ?? page?.url ?? '/', { kind: 'good', text: done.note }, done.cookies)
    const errors = done.errors.map(({ field, message }) => ({
      field: field !== undefined && route.fields.includes(field) ? field : undefined,
      message,
    }))
    const refused = { action: request.url, typed: form, errors }
    const shown = page && (await page.show(await byMerchantId({ ...visit, ...page, refused })))
    const text = 'Nothing was done. Please look at this:'
    if (!shown)
      return sendPlain(reply.status(422), {
        title: 'This could not be done',
        text: errors.map(({ message }) => message).join(' '),
      })
    const note = { kind: 'bad', text, errors } as const
    const whole = await withSuggestions(visit, { ...shown, isLive: false })
    return sendConsolePage(reply.status(422), whole, await frameOf(signedIn, note))
  }

  /** The page at an address of the console, as a form names it. */
  function pageOf(
    url: string,
  ): (Pick<Visit, 'url' | 'params' | 'query'> & Pick<ConsoleView, 'show'>) | undefined {
    // No header says anything else, and no page of ours is called so.
    if (!/^[\x21-\x7e]*$/.test(url)) return undefined
    const [path = '', query] = url.split('?')
    for (const route of routes) {
      if (!('show' in route)) continue
      const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
      const found = new RegExp(`^${route.path.replace(/:\w+/g, '([^/]+)')}$`).exec(path)
      if (!found) continue
      const params = Object.fromEntries(names.map((name, index) => [name, decoded(found[index + 1] ?? '')]))
      return { url, params, query: new URLSearchParams(query), show: route.show }
    }
    return undefined
  }

  function go(
    request: FastifyRequest,
    reply: FastifyReply,
    to: string,
    flash: Flash,
    others: readonly string[] = [],
  ): FastifyReply {
    reply.header('set-cookie', [...others, cookies.flash.leave(request, flash)])
    return redirect(reply, to)
  }

  function goSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const next =
      request.method === 'GET' && request.url !== '/' ? `?next=${encodeURIComponent(request.url)}` : ''
    reply.header('set-cookie', cookies.endSessionCookie(request))
    return redirect(reply, `/sign-in${next}`)
  }

  /** Their role wants a second step, and they have none: nothing but that, and the way out. */
  function mustSetUp({ routeOptions }: FastifyRequest, { account }: SignedIn): boolean {
    if (!running().needsSecondStep(account)) return false
    const path = routeOptions.url ?? ''
    return !path.startsWith(secondStepPath)
  }

  function goSetUp(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return go(request, reply, secondStepPath, {
      kind: 'bad',
      text: 'Your role must sign in with a second step. Set it up here before anything else.',
    })
  }

  async function sendNothingHere({ request, reply, signedIn }: Call): Promise<FastifyReply> {
    const page = nothingHere(request.url.split('?')[0] ?? '')
    return sendConsolePage(reply.status(404), page, await frameOf(signedIn, undefined))
  }

  function visitOf(request: FastifyRequest, { account, session }: SignedIn): Visit {
    const actor = actorOf(request, account.login)
    return {
      service: running(),
      operations: running().operations,
      context: reachingAll(actor),
      operator: account,
      session,
      actor,
      formToken: cookies.formTokenOf(session),
      site: siteOf(request.host),
      nowMs: parts.clock.now(),
      // Safe: Fastify's parameters are texts by name.
      params: request.params as Record<string, string>,
      query: new URLSearchParams(request.url.split('?')[1] ?? ''),
      url: request.url,
      catalog: parts.catalog,
    }
  }

  /** Filters take a merchant by its number or by its name; pages see the number. */
  async function byMerchantId(visit: Visit): Promise<Visit> {
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

  async function frameOf({ account, session }: SignedIn, note: Flash | undefined): Promise<Frame> {
    const { operations, takesApplications } = running()
    const [waiting, applied] = await Promise.all([
      operations.approvals.countWaiting(),
      operations.applications.countWaiting(reachingAll('console')),
    ])
    return {
      mode: parts.mode,
      operator: account,
      note,
      formToken: cookies.formTokenOf(session),
      nonce: Buffer.from(parts.random(nonceBytes)).toString('base64url'),
      // Also shown when it was switched off while something waits.
      waiting: {
        approvals: waiting > 0 || isApprovalInUse(operations.approvalPolicy) ? waiting : undefined,
        applications: applied > 0 || takesApplications ? applied : undefined,
      },
    }
  }
}

async function withSuggestions(visit: Visit, page: ConsolePage): Promise<ConsolePage> {
  const content = html`${page.content}`
  return { ...page, content: html`${content}${await suggestionLists(visit, content)}` }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function nothingHere(path: string): ConsolePage {
  return {
    title: 'There is nothing here',
    area: undefined,
    content: html`<p class="wrap">There is nothing at ${path}. Perhaps it was mistyped; the search finds orders, merchants, wallets, callbacks and requests by their numbers.</p>`,
  }
}
