// Who looks at the console, according to the browser's cookies: a session that the database knows, or none yet.
import type { FastifyRequest } from 'fastify'
import { makeSignInCookies } from '../kit/accounts/cookies.ts'
import { makeCookieJar } from '../kit/cookies.ts'
import type { ConsoleParts } from './parts.ts'

export function makeConsoleCookies(parts: ConsoleParts) {
  return makeSignInCookies({ ...parts, name: 'console', jarOf })
}

/** The admin listener speaks http unless a proxy in front of it says otherwise. */
export function jarOf(request: FastifyRequest) {
  return makeCookieJar({ isSecure: request.protocol === 'https' })
}

export function actorOf({ ip }: FastifyRequest, login: string): string {
  return `console:${login}@${ip}`
}
