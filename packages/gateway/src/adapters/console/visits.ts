// Who looks at the console, as the browser's cookies tell it: a session that the database knows, or nobody yet.
import type { FastifyRequest } from 'fastify'
import type { FieldError } from '../../actions/read-input.ts'
import type { Session } from '../../identity/accounts/rules/account.ts'
import { sessionLimits } from '../../identity/accounts/sessions.ts'
import type { Operator } from '../../identity/operators/rules/operator.ts'
import { makeCookieJar } from '../kit/cookies.ts'
import { makeSignInCookies } from '../kit/forms/sign-in-cookies.ts'
import type { ConsoleService } from './console.ts'

export interface Note {
  readonly kind: 'good' | 'bad'
  readonly text: string
  /** Each leads to its field. */
  readonly errors?: readonly FieldError[]
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
  leaveFlow,
  readFlow,
  endFlow,
  endSessionCookie,
} = cookies

export async function readSession(
  request: FastifyRequest,
  { sessions }: ConsoleService,
): Promise<SignedIn | undefined> {
  const token = cookies.readToken(request)
  const found = token === undefined ? undefined : await sessions.find(token)
  return found && { operator: found.account, session: found.session }
}

export function sessionCookie(request: FastifyRequest, token: string): string {
  return cookies.sessionCookie(request, token, sessionLimits.lifeMs)
}
