// Signing in to the console: the password, and for whoever has a second step a code. Trying is costly on purpose, so it
// has an allowance for each address.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../../identity/accounts/rules/account.ts'
import { siteOf } from '../../identity/accounts/rules/passkey.ts'
import { addressKey } from '../../platform/http/admission/addresses.ts'
import { RateLimiter } from '../../platform/http/admission/rate-limiter.ts'
import { assets } from '../kit/assets.ts'
import { passkeyForm } from '../kit/forms/passkey-form.ts'
import { originOf } from '../kit/forms/sign-in-cookies.ts'
import { type Html, html } from '../kit/html.ts'
import { redirect } from '../kit/layout.ts'
import { isFromElsewhere, readForm } from '../kit/requests.ts'
import { sendSmallPage } from './frame.ts'
import type { ConsoleParts } from './parts.ts'
import { providerPath, serveProviderSignIn } from './provider-sign-in.ts'
import {
  endPassed,
  leavePassed,
  type Note,
  readBrowser,
  readPassed,
  readSession,
  sessionCookie,
  takeNote,
} from './visits.ts'
import { until } from './words.ts'

const triesRate = { perSecond: 0.2, burst: 20 } as const
const maxLoginShown = 64
const maxCodeLength = 32
const passkeyPath = '/sign-in/passkey'

interface Tried {
  readonly httpStatus: number
  readonly trouble: string
}

type NotRight = { kind: 'busy' | 'wrong' } | { kind: 'locked'; untilMs: number }

export function serveSignIn(listener: FastifyInstance, parts: ConsoleParts): void {
  const { running, clock } = parts
  const tries = new RateLimiter({ rate: triesRate, clock })

  listener.get('/sign-in', async (request, reply) => {
    if (await readSession(request, running())) return redirect(reply, nextOf(request))
    return showPassword(request, reply)
  })

  listener.post('/sign-in', async (request, reply) => {
    const form = readForm(request.body)
    const login = (form.get('login') ?? '').slice(0, maxLoginShown)
    const refusal = refusalOf(request, form)
    if (refusal) return showPassword(request, reply, { ...refusal, login })
    const proof = await running().authenticate({ login, password: form.get('password') ?? '' })
    if (proof.kind !== 'right')
      return showPassword(request, reply, { ...tried(request, proof, 'Login or password is wrong.'), login })
    if (!proof.account.hasSecondStep) return open(request, reply, proof.account)
    const nowMs = clock.now()
    reply.header('set-cookie', leavePassed(request, proof.account, { ...running(), nowMs }))
    return redirect(reply, pathWithNext('/sign-in/code', request))
  })

  serveProviderSignIn(listener, parts, nextOf)

  listener.get(passkeyPath, async (request, reply) => {
    const site = siteOf(request.host)
    const { formToken, cookies } = readBrowser(request, running(), parts.random)
    if (!site) return reply.status(404).send()
    if (cookies.length > 0) reply.header('set-cookie', [...cookies])
    return reply.header('cache-control', 'no-store').send(running().passkeys.beginSignIn(formToken, site))
  })

  listener.post(passkeyPath, async (request, reply) => {
    const form = readForm(request.body)
    const refusal = refusalOf(request, form)
    const site = siteOf(request.host)
    if (refusal || !site) return showPassword(request, reply, refusal && { ...refusal, login: '' })
    const given = { credential: form.get('credential') ?? '', boundTo: form.get('token') ?? '' }
    const proof = await running().passkeys.prove(given, site)
    if (proof.kind === 'right') return open(request, reply, proof.access, 'by passkey')
    const wrong = 'This passkey is not known here, or its answer came too late. Please try again.'
    return showPassword(request, reply, { ...tried(request, proof, wrong), login: '' })
  })

  listener.get('/sign-in/code', async (request, reply) => {
    if (await readSession(request, running())) return redirect(reply, nextOf(request))
    if (!readPassed(request, { ...running(), nowMs: clock.now() }))
      return redirect(reply, pathWithNext('/sign-in', request))
    return showCode(request, reply)
  })

  listener.post('/sign-in/code', async (request, reply) => {
    const form = readForm(request.body)
    const passed = readPassed(request, { ...running(), nowMs: clock.now() })
    if (!passed) return redirect(reply, pathWithNext('/sign-in', request))
    const refusal = refusalOf(request, form)
    if (refusal) return showCode(request, reply, refusal)
    const { login, accessVersion } = passed
    const actor = actorOf(request, login)
    const operator = await running().findOperator(login)
    // All access was ended since the password was right, or the second step is off: from the beginning.
    if (operator?.accessVersion !== accessVersion || !operator.hasSecondStep)
      return fromBeginning(request, reply)
    const code = (form.get('code') ?? '').slice(0, maxCodeLength)
    const proof = await running().secondStep.prove({ login, actor }, code)
    if (proof.kind === 'right') return open(request, reply, passed)
    const wrong = 'The code is wrong, or was used already. Wait for the next one.'
    return showCode(request, reply, tried(request, proof, wrong))
  })

  /** Why it is not even looked at. */
  function refusalOf(request: FastifyRequest, form: URLSearchParams): Tried | undefined {
    const { isRightToken } = readBrowser(request, running(), parts.random)
    if (isFromElsewhere(request, [originOf(request)]) || !isRightToken(form.get('token') ?? ''))
      return {
        httpStatus: 403,
        trouble: 'This page was open for too long, or cookies are off. Please try once more.',
      }
    if (tries.take(addressKey(request.ip)) > 0)
      return {
        httpStatus: 429,
        trouble: 'Too many tries from your address. Wait a minute, then try again.',
      }
    return undefined
  }

  async function open(
    request: FastifyRequest,
    reply: FastifyReply,
    access: Access,
    how?: string,
  ): Promise<FastifyReply> {
    const token = await running().sessions.open(access, {
      actor: actorOf(request, access.login),
      address: request.ip,
      ...(how !== undefined && { how }),
    })
    if (token === undefined) return fromBeginning(request, reply)
    reply.header('set-cookie', [endPassed(request), sessionCookie(request, token)])
    return redirect(reply, nextOf(request))
  }

  function fromBeginning(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    reply.header('set-cookie', endPassed(request))
    return redirect(reply, pathWithNext('/sign-in', request))
  }

  /** A proof that was not right, in the log and in words. */
  function tried({ id, ip }: FastifyRequest, proof: NotRight, wrong: string): Tried {
    const about = { requestId: id, address: ip }
    switch (proof.kind) {
      case 'busy':
        return {
          httpStatus: 429,
          trouble: 'Too many tries at this moment. Wait a minute, then try again.',
        }
      case 'wrong':
        parts.log.warn(about, 'a wrong sign-in to the console')
        return { httpStatus: 401, trouble: wrong }
      case 'locked':
        parts.log.warn(about, 'a sign-in to a locked operator')
        return {
          httpStatus: 401,
          trouble: `Too many wrong tries: this login is locked for ${until(proof.untilMs, clock.now())}. An admin can end that by giving a new password.`,
        }
    }
  }

  function showPassword(
    request: FastifyRequest,
    reply: FastifyReply,
    tried?: Tried & { readonly login: string },
  ): FastifyReply {
    return show(request, reply, {
      title: 'Sign in',
      path: '/sign-in',
      tried,
      before:
        running().provider &&
        html`<p class="stack"><a class="button primary" href="${pathWithNext(providerPath, request)}">Sign in with your organisation</a></p>
<p class="quiet">Or with a password:</p>`,
      fields: html`<label>Login<input name="login" value="${tried?.login}" autocomplete="username" autocapitalize="none" spellcheck="false" required></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
<button class="primary">Sign in</button>`,
      withPasskey: true,
      help:
        parts.mode === 'live'
          ? html`Lost your password? Ask another admin for a new one.`
          : html`The first start made the operator <code>admin</code>. Lost the password? On the server: <code>npm run tillgate -- operator reset-password admin --reason lost</code>`,
    })
  }

  function showCode(request: FastifyRequest, reply: FastifyReply, tried?: Tried): FastifyReply {
    return show(request, reply, {
      title: 'Second step',
      path: '/sign-in/code',
      tried,
      fields: html`<label>Code from your app, or a recovery code<input name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="${maxCodeLength}" required autofocus></label>
<button class="primary">Sign in</button>`,
      help: html`App and recovery codes lost? Ask another admin to reset the second step.${parts.mode !== 'live' && html` Or on the server: <code>npm run tillgate -- operator reset-totp LOGIN --reason lost</code>`}`,
    })
  }

  function show(
    request: FastifyRequest,
    reply: FastifyReply,
    page: {
      title: string
      path: string
      tried: Tried | undefined
      before?: Html | undefined
      fields: Html
      withPasskey?: true
      help: Html
    },
  ): FastifyReply {
    const { formToken, cookies } = readBrowser(request, running(), parts.random)
    const taken = takeNote(request, running())
    if (cookies.length > 0 || taken)
      reply.header('set-cookie', [...cookies, ...(taken ? [taken.cookie] : [])])
    const { title, path, tried, before, fields, help } = page
    const note: Note | undefined = tried ? { kind: 'bad', text: tried.trouble } : taken?.note
    if (tried) reply.status(tried.httpStatus)
    const site = page.withPasskey && siteOf(request.host)
    const passkey =
      site &&
      passkeyForm({
        action: pathWithNext(passkeyPath, request),
        site,
        asked: { path: passkeyPath },
        trouble: 'Your browser gave no passkey of this console.',
        fields: html`<input type="hidden" name="token" value="${formToken}"><button>Sign in with a passkey</button>`,
      })
    return sendSmallPage(reply, {
      script: passkey && assets.passkeyScript,
      title,
      mode: parts.mode,
      flash: note,
      nonce: Buffer.from(parts.random(16)).toString('base64url'),
      content: html`${before}
<form method="post" action="${pathWithNext(path, request)}" class="stack">
<input type="hidden" name="token" value="${formToken}">
${fields}
</form>
${passkey}
<p class="quiet small">${help}</p>`,
    })
  }
}

function actorOf(request: FastifyRequest, login: string): string {
  return `console:${login}@${request.ip}`
}

function pathWithNext(path: string, request: FastifyRequest): string {
  const next = nextOf(request)
  return next === '/' ? path : `${path}?next=${encodeURIComponent(next)}`
}

/** Only a path of this console: never another host. */
function nextOf(request: FastifyRequest): string {
  const { next } = request.query as { next?: unknown }
  if (typeof next !== 'string' || !/^\/(?![/\\])[\w/.?=&%:@+~-]*$/.test(next)) return '/'
  return next.startsWith('/sign-in') ? '/' : next
}
