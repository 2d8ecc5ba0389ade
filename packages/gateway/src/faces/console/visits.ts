// Who looks at the console, as the browser's cookies tell it: a session that the database knows, or nobody yet. And
// the token that every form must bring back, bound to the session or, before there is one, to the browser.
import type { RandomBytes } from '@tillgate/protocol'
import type { FastifyRequest } from 'fastify'
import type { FieldError } from '../../acts/read-input.ts'
import type { OperatorService } from '../../acts/service.ts'
import { makeCookieJar } from '../../http/cookies.ts'
import { sessionLimits } from '../../operators/operator-sessions.ts'
import type { Access, Operator } from '../../operators/rules/operator.ts'
import type { Session } from '../../operators/store/operators.ts'
import type { OpenIdFlow } from '../../platform/outside/openid.ts'

const sessionName = 'console'
const browserName = 'console-browser'
const noteName = 'console-note'
const passedName = 'console-passed'
const flowName = 'console-provider'
const browserSeconds = 24 * 60 * 60
const noteSeconds = 60
/** Long enough to look for the phone. */
const passedSeconds = 5 * 60
/** Long enough for a second factor there. */
const flowSeconds = 10 * 60
const idBytes = 16
const idPattern = /^[\w-]{22}$/

export interface Note {
  readonly kind: 'good' | 'bad'
  readonly text: string
  /** Each leads to its field. */
  readonly errors?: readonly FieldError[]
}

/** Whose password was right, while the code is still missing. */
export interface Passed extends Access {
  readonly untilMs: number
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

export async function readSession(
  request: FastifyRequest,
  { sessions }: OperatorService,
): Promise<SignedIn | undefined> {
  const token = jarOf(request).read(request.headers.cookie, sessionName)
  return token === undefined ? undefined : sessions.find(token)
}

export function sessionCookie(request: FastifyRequest, token: string): string {
  return jarOf(request).write(sessionName, token, sessionLimits.lifeMs / 1000)
}

export function endSessionCookie(request: FastifyRequest): string {
  return jarOf(request).remove(sessionName)
}

export function formTokenOf(session: Session, { tokens }: OperatorService): string {
  return tokens.make(sessionParts(session))
}

export function isRightToken(given: string, session: Session, { tokens }: OperatorService): boolean {
  return tokens.isRight(given, sessionParts(session))
}

function sessionParts({ tokenHash }: Session): string[] {
  return ['session', tokenHash.toString('base64')]
}

/** For the form that signs in, when nobody is signed in yet. */
export function readBrowser(
  request: FastifyRequest,
  { tokens }: OperatorService,
  random: RandomBytes,
): { formToken: string; isRightToken(given: string): boolean; cookies: string[] } {
  const jar = jarOf(request)
  const known = jar.read(request.headers.cookie, browserName)
  const id =
    known !== undefined && idPattern.test(known) ? known : Buffer.from(random(idBytes)).toString('base64url')
  return {
    formToken: tokens.make(['browser', id]),
    isRightToken: (given) => tokens.isRight(given, ['browser', id]),
    cookies: id === known ? [] : [jar.write(browserName, id, browserSeconds)],
  }
}

export function leaveNote(request: FastifyRequest, note: Note, { sealing }: OperatorService): string {
  return jarOf(request).write(noteName, sealing.seal(note, noteName), noteSeconds)
}

export function leavePassed(
  request: FastifyRequest,
  { login, accessVersion }: Access,
  { sealing, nowMs }: Pick<OperatorService, 'sealing'> & { nowMs: number },
): string {
  const passed: Passed = { login, accessVersion, untilMs: nowMs + passedSeconds * 1000 }
  return jarOf(request).write(passedName, sealing.seal(passed, passedName), passedSeconds)
}

export function readPassed(
  request: FastifyRequest,
  { sealing, nowMs }: Pick<OperatorService, 'sealing'> & { nowMs: number },
): Passed | undefined {
  const sealed = jarOf(request).read(request.headers.cookie, passedName)
  // Safe: only this gateway seals, and for this place it seals this alone.
  const passed = sealed === undefined ? undefined : (sealing.open(sealed, passedName) as Passed | undefined)
  return passed && passed.untilMs > nowMs ? passed : undefined
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

export function endPassed(request: FastifyRequest): string {
  return jarOf(request).remove(passedName)
}

export function takeNote(
  request: FastifyRequest,
  { sealing }: OperatorService,
): { note: Note; cookie: string } | undefined {
  const jar = jarOf(request)
  const sealed = jar.read(request.headers.cookie, noteName)
  const note = sealed === undefined ? undefined : sealing.open(sealed, noteName)
  // Safe: only this gateway seals, and for this place it seals notes alone.
  return note === undefined ? undefined : { note: note as Note, cookie: jar.remove(noteName) }
}

/** The name by which this very request came. */
export function originOf(request: FastifyRequest): string {
  return `${request.protocol}://${request.host}`
}
