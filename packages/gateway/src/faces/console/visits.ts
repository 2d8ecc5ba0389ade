// Who looks at the console, as the browser's cookies tell it: a session that the database knows, or nobody yet.
import type { FastifyRequest } from 'fastify'
import type { Session } from '../../accounts/rules/account.ts'
import { sessionLimits } from '../../accounts/sessions.ts'
import type { FieldError } from '../../acts/read-input.ts'
import type { OperatorService } from '../../acts/service.ts'
import { makeCookieJar } from '../../http/cookies.ts'
import { makeSignInCookies } from '../../http/forms/sign-in-cookies.ts'
import type { Operator } from '../../operators/rules/operator.ts'
import type { OpenIdFlow } from '../../platform/outside/openid.ts'

const flowName = 'console-provider'
/** Long enough for a second factor there. */
const flowSeconds = 10 * 60

export interface Note {
  readonly kind: 'good' | 'bad'
  readonly text: string
  /** Each leads to its field. */
  readonly errors?: readonly FieldError[]
}

/** What the browser keeps while it is at the identity provider. */
export interface KeptFlow extends OpenIdFlow {
  readonly next: string
  readonly untilMs: number
}

export interface SignedIn {
  readonly operator: Operator
  readonly session: Session
}

/** The admin listener speaks http unless a proxy in front of it says otherwise. */
function jarOf(request: FastifyRequest) {
  return makeCookieJar({ isSecure: request.protocol === 'https' })
}

const cookies = makeSignInCookies<Note>({ name: 'console', jarOf })

export const {
  formTokenOf,
  isRightToken,
  readBrowser,
  leaveNote,
  takeNote,
  leavePassed,
  readPassed,
  endPassed,
  endSessionCookie,
} = cookies

export async function readSession(
  request: FastifyRequest,
  { sessions }: OperatorService,
): Promise<SignedIn | undefined> {
  const token = cookies.readToken(request)
  const found = token === undefined ? undefined : await sessions.find(token)
  return found && { operator: found.account, session: found.session }
}

export function sessionCookie(request: FastifyRequest, token: string): string {
  return cookies.sessionCookie(request, token, sessionLimits.lifeMs)
}

/** Signing in at the identity provider, while the browser is there. */
export function leaveFlow(
  request: FastifyRequest,
  flow: Omit<KeptFlow, 'untilMs'>,
  { sealing, nowMs }: Pick<OperatorService, 'sealing'> & { nowMs: number },
): string {
  const kept: KeptFlow = { ...flow, untilMs: nowMs + flowSeconds * 1000 }
  return jarOf(request).write(flowName, sealing.seal(kept, flowName), flowSeconds)
}

export function readFlow(
  request: FastifyRequest,
  { sealing, nowMs }: Pick<OperatorService, 'sealing'> & { nowMs: number },
): KeptFlow | undefined {
  const sealed = jarOf(request).read(request.headers.cookie, flowName)
  // Safe: only this gateway seals, and for this place it seals this alone.
  const kept = sealed === undefined ? undefined : (sealing.open(sealed, flowName) as KeptFlow | undefined)
  return kept && kept.untilMs > nowMs ? kept : undefined
}

export function endFlow(request: FastifyRequest): string {
  return jarOf(request).remove(flowName)
}
