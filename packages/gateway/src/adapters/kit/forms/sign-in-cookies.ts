// What the browser of somebody who signs in keeps for us: the session's token, a note to show once, whose password was
// right while the code is missing. And the token that every form must bring back, bound to the session or, before there
// is one, to the browser. The console and the portal each have cookies of their own name.
import type { RandomBytes } from '@tillgate/protocol'
import type { FastifyRequest } from 'fastify'
import type { OpenIdFlow } from '../../../platform/runtime/outside/openid.ts'
import type { Sealing } from '../../../platform/runtime/secrets/sealing.ts'
import type { Tokens } from '../../../platform/runtime/secrets/tokens.ts'
import type { CookieJar } from '../cookies.ts'

const browserSeconds = 24 * 60 * 60
const noteSeconds = 60
/** Long enough to look for the phone. */
const passedSeconds = 5 * 60
/** Long enough for a second factor at the identity provider. */
const flowSeconds = 10 * 60
const idBytes = 16
const idPattern = /^[\w-]{22}$/

/** Whose password was right, while the code is still missing. */
export interface Passed {
  readonly login: string
  readonly accessVersion: number
  readonly untilMs: number
}

/** What the browser keeps while it is at the identity provider. */
export interface KeptFlow extends OpenIdFlow {
  readonly next: string
  readonly untilMs: number
}

export interface Keeper {
  readonly sealing: Sealing
  readonly tokens: Tokens
}

export interface BrowserForms {
  readonly formToken: string
  isRightToken(given: string): boolean
  /** To be set, where the browser is new. */
  readonly cookies: readonly string[]
}

export function makeSignInCookies<Note extends object>({
  name,
  jarOf,
}: {
  readonly name: string
  readonly jarOf: (request: FastifyRequest) => CookieJar
}) {
  const [browserName, noteName, passedName] = [`${name}-browser`, `${name}-note`, `${name}-passed`] as const
  const flowName = `${name}-provider`
  const read = (request: FastifyRequest, cookie: string) =>
    jarOf(request).read(request.headers.cookie, cookie)

  return {
    readToken: (request: FastifyRequest) => read(request, name),
    sessionCookie: (request: FastifyRequest, token: string, lifeMs: number) =>
      jarOf(request).write(name, token, lifeMs / 1000),
    endSessionCookie: (request: FastifyRequest) => jarOf(request).remove(name),

    /** `scope`: what else the form is bound to. */
    formTokenOf: ({ tokenHash }: { tokenHash: Buffer }, { tokens }: Keeper, ...scope: readonly string[]) =>
      tokens.make(['session', tokenHash.toString('base64'), ...scope]),
    isRightToken: (
      given: string,
      { tokenHash }: { tokenHash: Buffer },
      { tokens }: Keeper,
      ...scope: readonly string[]
    ) => tokens.isRight(given, ['session', tokenHash.toString('base64'), ...scope]),

    /** For forms when nobody is signed in yet. */
    readBrowser(request: FastifyRequest, { tokens }: Keeper, random: RandomBytes): BrowserForms {
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

    leaveNote: (request: FastifyRequest, note: Note, { sealing }: Keeper) =>
      jarOf(request).write(noteName, sealing.seal(note, noteName), noteSeconds),
    takeNote(request: FastifyRequest, { sealing }: Keeper): { note: Note; cookie: string } | undefined {
      const sealed = read(request, noteName)
      const note = sealed === undefined ? undefined : sealing.open(sealed, noteName)
      // Safe: only this gateway seals, and for this place it seals notes alone.
      return note === undefined ? undefined : { note: note as Note, cookie: jarOf(request).remove(noteName) }
    },

    leavePassed(
      request: FastifyRequest,
      { login, accessVersion }: Omit<Passed, 'untilMs'>,
      { sealing, nowMs }: Pick<Keeper, 'sealing'> & { readonly nowMs: number },
    ): string {
      const passed: Passed = { login, accessVersion, untilMs: nowMs + passedSeconds * 1000 }
      return jarOf(request).write(passedName, sealing.seal(passed, passedName), passedSeconds)
    },
    readPassed(
      request: FastifyRequest,
      { sealing, nowMs }: Pick<Keeper, 'sealing'> & { readonly nowMs: number },
    ): Passed | undefined {
      const sealed = read(request, passedName)
      // Safe: only this gateway seals, and for this place it seals this alone.
      const passed =
        sealed === undefined ? undefined : (sealing.open(sealed, passedName) as Passed | undefined)
      return passed && passed.untilMs > nowMs ? passed : undefined
    },
    endPassed: (request: FastifyRequest) => jarOf(request).remove(passedName),

    leaveFlow(
      request: FastifyRequest,
      flow: Omit<KeptFlow, 'untilMs'>,
      { sealing, nowMs }: Pick<Keeper, 'sealing'> & { readonly nowMs: number },
    ): string {
      const kept: KeptFlow = { ...flow, untilMs: nowMs + flowSeconds * 1000 }
      return jarOf(request).write(flowName, sealing.seal(kept, flowName), flowSeconds)
    },
    readFlow(
      request: FastifyRequest,
      { sealing, nowMs }: Pick<Keeper, 'sealing'> & { readonly nowMs: number },
    ): KeptFlow | undefined {
      const sealed = read(request, flowName)
      // Safe: only this gateway seals, and for this place it seals this alone.
      const kept = sealed === undefined ? undefined : (sealing.open(sealed, flowName) as KeptFlow | undefined)
      return kept && kept.untilMs > nowMs ? kept : undefined
    },
    endFlow: (request: FastifyRequest) => jarOf(request).remove(flowName),
  }
}

/** The name by which this very request came. */
export function originOf(request: FastifyRequest): string {
  return `${request.protocol}://${request.host}`
}
