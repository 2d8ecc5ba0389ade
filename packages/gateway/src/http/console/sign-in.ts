// Signing in to the console. Trying is costly on purpose, so it has an allowance for each address and a bound on
// how many are under way.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { TokenBuckets } from '../../domain/token-bucket.ts'
import { addressKey } from '../api-limits.ts'
import { isFromElsewhere, readForm } from '../checkout/requests.ts'
import { html } from '../html.ts'
import { sendSmallPage } from './frame.ts'
import { type ConsoleParts, originOf, redirect } from './routes.ts'
import { isRightToken, readBrowser, readSession, sessionCookie } from './visits.ts'
import { until } from './words.ts'

const allowance = { perSecond: 0.2, burst: 20 } as const
const maxUnderWay = 8
const maxLoginShown = 64

interface Tried {
  readonly httpStatus: number
  readonly trouble: string
  readonly login: string
}

export function serveSignIn(listener: FastifyInstance, parts: ConsoleParts): void {
  const { running, clock } = parts
  const tries = new TokenBuckets({ maxBuckets: 10_000 })
  let underWay = 0

  listener.get('/sign-in', async (request, reply) => {
    if (await readSession(request, running())) return redirect(reply, nextOf(request))
    return show(request, reply)
  })

  listener.post('/sign-in', async (request, reply) => {
    const form = readForm(request.body)
    const login = (form.get('login') ?? '').slice(0, maxLoginShown)
    const refuse = (httpStatus: number, trouble: string) =>
      show(request, reply, { httpStatus, trouble, login })
    const { formToken } = readBrowser(request, running(), parts.random)
    if (isFromElsewhere(request, [originOf(request)]) || !isRightToken(formToken, form.get('token') ?? ''))
      return refuse(403, 'This page was open for too long, or cookies are off. Please try once more.')
    if (underWay >= maxUnderWay || tries.take(addressKey(request.ip), allowance, clock.now()) > 0)
      return refuse(429, 'Too many tries from your address. Wait a minute, then try again.')
    underWay++
    const outcome = await running()
      .authenticate({ login, password: form.get('password') ?? '' })
      .finally(() => underWay--)
    switch (outcome.kind) {
      case 'wrong':
        parts.log.warn({ requestId: request.id, address: request.ip }, 'a wrong sign-in to the console')
        return refuse(401, 'Login or password is wrong.')
      case 'locked':
        parts.log.warn({ requestId: request.id, address: request.ip }, 'a sign-in to a locked operator')
        return refuse(
          401,
          `Too many wrong tries: this login is locked for ${until(outcome.untilMs, clock.now())}. An admin can end that by giving a new password.`,
        )
      case 'right': {
        const { login: known } = outcome.operator
        const token = await running().sessions.open(known, {
          actor: `console:${known}@${request.ip}`,
          address: request.ip,
        })
        reply.header('set-cookie', sessionCookie(request, token))
        return redirect(reply, nextOf(request))
      }
    }
  })

  function show(request: FastifyRequest, reply: FastifyReply, tried?: Tried): FastifyReply {
    const { formToken, cookies } = readBrowser(request, running(), parts.random)
    if (cookies.length > 0) reply.header('set-cookie', cookies)
    if (tried) reply.status(tried.httpStatus)
    const next = nextOf(request)
    return sendSmallPage(reply, {
      title: 'Sign in',
      mode: parts.mode,
      content: html`<h1>Sign in</h1>
${tried && html`<p class="note bad" role="alert">${tried.trouble}</p>`}
<form method="post" action="/sign-in${next === '/' ? '' : `?next=${encodeURIComponent(next)}`}" class="stack">
<input type="hidden" name="token" value="${formToken}">
<label>Login<input name="login" value="${tried?.login}" autocomplete="username" autocapitalize="none" spellcheck="false" required></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
<button class="primary">Sign in</button>
</form>
<p class="quiet small">The first start made the operator <code>admin</code>. Lost the password? On the server: <code>npm run tillgate -- operator reset-password admin --reason lost</code></p>`,
    })
  }
}

/** Only a path of this console: never another host. */
function nextOf(request: FastifyRequest): string {
  const { next } = request.query as { next?: unknown }
  if (typeof next !== 'string' || !/^\/(?![/\\])[\w/.?=&%:@+~-]*$/.test(next)) return '/'
  return next.startsWith('/sign-in') ? '/' : next
}
