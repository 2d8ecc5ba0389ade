// Signing in to the console: what the kit needs to know about this adapter.
import type { FastifyInstance } from 'fastify'
import en from '../../../locales/console/en.json' with { type: 'json' }
import { siteOf } from '../../identity/accounts/rules/passkey-site.ts'
import type { SignInCookies } from '../kit/accounts/cookies.ts'
import { AccountDoor } from '../kit/accounts/door.ts'
import { serveSignIn } from '../kit/accounts/sign-in.ts'
import type { SignInSurface } from '../kit/accounts/surface.ts'
import { assets } from '../kit/assets.ts'
import { type Html, html } from '../kit/html.ts'
import { inEnglish } from '../kit/languages/languages.ts'
import { originOf } from '../kit/requests.ts'
import { sendSmallPage } from './frame.ts'
import type { ConsoleParts } from './parts.ts'
import { actorOf } from './visits.ts'

export const consoleLanguage = inEnglish(en)

export function serveConsoleSignIn(
  listener: FastifyInstance,
  parts: ConsoleParts,
  cookies: SignInCookies,
): void {
  const { mode, random, running } = parts
  const surface: SignInSurface = {
    ...parts,
    cookies,
    accounts: () => running().operations.operatorAccounts,
    provider: () => running().provider,
    name: 'console',
    home: '/',
    nextPattern: /^\/(?![/\\])[\w/.?=&%:@+~-]*$/,
    login: { name: 'login', type: 'text', maxLength: 64 },
    pathTo: (path) => path,
    actorOf,
    originsOf: (request) => [originOf(request)],
    siteOf: ({ host }) => siteOf(host),
    languageOf: () => consoleLanguage,
    async signInAtProvider(claims, { actorOf }) {
      const found = await running().operations.signInByProvider?.(claims, actorOf)
      return found?.kind === 'right' ? found.access : (found?.kind ?? 'unknown')
    },
    sendSmall: ({ reply }, { title, content, withPasskeyScript }, flash) =>
      sendSmallPage(reply, {
        title,
        content,
        mode,
        flash,
        nonce: Buffer.from(random(16)).toString('base64url'),
        script: withPasskeyScript && assets.passkeyScript,
      }),
    helpOf: (_call, step) => helpWith(step, mode),
  }
  serveSignIn(listener, new AccountDoor(surface))
}

function helpWith(step: 'password' | 'code', mode: ConsoleParts['mode']): Html {
  if (step === 'code')
    return html`Lost your app and recovery codes? Ask another admin to reset your two-step verification.${mode !== 'live' && html` Or run on the server: <code>npm run tillgate -- operator reset-totp LOGIN --reason lost</code>`}`
  return mode === 'live'
    ? html`Lost your password? Ask another admin for a new one.`
    : html`The first start created the operator <code>admin</code>. Lost the password? Run on the server: <code>npm run tillgate -- operator reset-password admin --reason lost</code>`
}
