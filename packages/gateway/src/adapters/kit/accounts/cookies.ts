// What the browser of a person who signs in keeps for us: the token of the session, a flash message, and, between two
// steps of signing in, what the first step confirmed. Also the token that every form must bring back: it is bound to the
// session or, before there is one, to the browser. Each adapter has cookies of its own name.
import type { RandomBytes } from '@tillgate/protocol'
import type { FastifyRequest } from 'fastify'
import type { Access } from '../../../identity/accounts/rules/account.ts'
import { sessionLimits } from '../../../identity/accounts/sessions.ts'
import type { Clock } from '../../../platform/runtime/clock.ts'
import type { OpenIdFlow } from '../../../platform/runtime/outside/openid.ts'
import type { Sealing } from '../../../platform/runtime/secrets/sealing.ts'
import type { Tokens } from '../../../platform/runtime/secrets/tokens.ts'
import type { CookieJar } from '../cookies.ts'
import type { Flash } from '../pages/flash.ts'

const browserSeconds = 24 * 60 * 60
const flashSeconds = 60
/** Long enough to look for the phone. */
const passedSeconds = 5 * 60
/** Long enough for a second factor at the identity provider. */
const flowSeconds = 10 * 60
const idBytes = 16
const idPattern = /^[\w-]{22}$/

export interface CookieSecrets {
  readonly sealing: Sealing
  readonly tokens: Tokens
}

/** Of a person who is at the identity provider. */
export interface KeptFlow extends OpenIdFlow {
  readonly next: string
}

export interface BrowserForms {
  readonly formToken: string
  isRightToken(given: string): boolean
  /** Set these if the browser is new. */
  readonly cookies: readonly string[]
}

interface CookieParts {
  readonly name: string
  readonly jarOf: (request: FastifyRequest) => CookieJar
  readonly random: RandomBytes
  readonly clock: Clock
  /** Throws while the gateway is still starting. */
  readonly running: () => { readonly secrets: CookieSecrets }
}

export type SignInCookies = ReturnType<typeof makeSignInCookies>

export function makeSignInCookies({ name, jarOf, random, clock, running }: CookieParts) {
  const browserName = `${name}-browser`
  const read = (request: FastifyRequest, cookie: string) =>
    jarOf(request).read(request.headers.cookie, cookie)

  function sealed<Kept extends object>(what: string, seconds: number) {
    const cookie = `${name}-${what}`
    return {
      leave(request: FastifyRequest, kept: Kept): string {
        const until = { ...kept, untilMs: clock.now() + seconds * 1000 }
        return jarOf(request).write(cookie, running().secrets.sealing.seal(until, cookie), seconds)
      },
      read(request: FastifyRequest): Kept | undefined {
        const text = read(request, cookie)
        // Safe: only this gateway seals, and what it seals for this cookie is of this type.
        const kept =
          text === undefined
            ? undefined
            : (running().secrets.sealing.open(text, cookie) as
                | (Kept & { readonly untilMs: number })
                | undefined)
        return kept && kept.untilMs > clock.now() ? kept : undefined
      },
      end: (request: FastifyRequest): string => jarOf(request).remove(cookie),
    }
  }
  const partsOf = ({ tokenHash }: { tokenHash: Buffer }, scope: readonly string[]) => [
    'session',
    tokenHash.toString('base64'),
    ...scope,
  ]

  return {
    flash: sealed<Flash>('flash', flashSeconds),
    /** Whose password was right, while the code is still missing. */
    passed: sealed<Access>('passed', passedSeconds),
    flow: sealed<KeptFlow>('provider', flowSeconds),

    /** Undefined if no session of this browser is known. */
    async findSession<Found>(
      request: FastifyRequest,
      sessions: { find(token: string): Promise<Found | undefined> },
    ): Promise<Found | undefined> {
      const token = read(request, name)
      return token === undefined ? undefined : sessions.find(token)
    },
    sessionCookie: (request: FastifyRequest, token: string) =>
      jarOf(request).write(name, token, sessionLimits.lifeMs / 1000),
    endSessionCookie: (request: FastifyRequest) => jarOf(request).remove(name),

    /** `scope` names what else the form is bound to. */
    formTokenOf: (session: { tokenHash: Buffer }, ...scope: readonly string[]) =>
      running().secrets.tokens.make(partsOf(session, scope)),
    isRightToken: (given: string, session: { tokenHash: Buffer }, ...scope: readonly string[]) =>
      running().secrets.tokens.isRight(given, partsOf(session, scope)),

    /** For forms of a person who has not signed in. */
    readBrowser(request: FastifyRequest): BrowserForms {
      const { tokens } = running().secrets
      const known = read(request, browserName)
      const id =
        known !== undefined && idPattern.test(known)
          ? known
          : Buffer.from(random(idBytes)).toString('base64url')
      return {
        formToken: tokens.make(['browser', id]),
        isRightToken: (given) => tokens.isRight(given, ['browser', id]),
        cookies: id === known ? [] : [jarOf(request).write(browserName, id, browserSeconds)],
      }
    },
  }
}
