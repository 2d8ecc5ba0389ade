// A consumer registers: the login is an email address, and a code sent to it confirms ownership. If a wallet exists,
// only its mailbox learns that; the response is the same. A sandbox without email shows the code.
import { makeUuid } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { MakeEmails } from '../../core/emails/make-emails.ts'
import { type EmailLanguage, normaliseEmail } from '../../core/emails/rules/email.ts'
import type { SignInPlace } from '../../core/wallets/notify-owner.ts'
import { makePinResetCode, normaliseCode, pinResetLimits } from '../../core/wallets/rules/pin-reset.ts'
import { normaliseLogin, parseNewPin, placeOfPin } from '../../core/wallets/rules/wallet.ts'
import type { WalletStore } from '../../core/wallets/store/wallets.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { sealHash } from '../../platform/runtime/secrets/secret-hash.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { parseLine } from '../../platform/runtime/visible-text.ts'
import type { RegistrationStore } from './store/registrations.ts'
import type { WalletSessions } from './wallet-sessions.ts'

export interface RegisterParts extends ClockAndRandom {
  readonly registrations: RegistrationStore
  readonly wallets: Pick<WalletStore, 'findWalletByLogin'>
  readonly sessions: Pick<WalletSessions, 'make'>
  /** Hashes logins and codes under a separate key. */
  readonly codes: Tokens
  readonly makeEmails: MakeEmails
  readonly vault: Vault
  /** Whether the response shows the code because no email is sent. The code then confirms nothing. */
  readonly showsCode: boolean
}

export interface Confirmation {
  readonly login: string
  readonly code: string
  readonly name: string
  readonly pin: string
  readonly language: EmailLanguage
  readonly place: SignInPlace
}

export interface Registered {
  readonly token: string
  readonly walletId: string
  readonly login: string
  readonly accessVersion: number
}

/** The limit that banks have for an account holder's name. */
const maxNameLength = 70

export type Register = ReturnType<typeof makeRegister>

export function makeRegister(parts: RegisterParts) {
  const { registrations, wallets, codes, clock, random, vault, showsCode } = parts
  const hashOf = (login: string) => codes.make(['login', login])

  return {
    showsCode,

    /** Returns the login; undefined if the text is not a deliverable address. */
    emailOf,

    /** Sends a code, or a notice that a wallet exists. Returns the code for display in the sandbox. */
    async ask(login: string, language: EmailLanguage): Promise<string> {
      const taken = await wallets.findWalletByLogin(login)
      const code = makePinResetCode(random)
      const nowMs = clock.now()
      const giveUpAtMs = nowMs + pinResetLimits.lifeMs
      const to = { email: login, language }
      const emails = taken
        ? parts.makeEmails('wallet-exists', { to, parameters: {}, giveUpAtMs })
        : parts.makeEmails('registration-code', { to, parameters: {}, link: code, giveUpAtMs })
      await registrations.ask({
        loginHash: hashOf(login),
        codeHash: codes.make(['code', login, code]),
        nowMs,
        everyMs: showsCode ? 0 : pinResetLimits.mailEveryMs,
        emails,
      })
      return code
    },

    /** Returns the session's token; undefined if login or code is wrong, or the code was used or has expired. */
    async confirm(given: Confirmation): Promise<Registered | undefined> {
      const name = parseLine(given.name, 'name', { max: maxNameLength })
      const pin = parseNewPin(given.pin)
      const login = emailOf(given.login)
      if (login === undefined) return undefined
      const loginHash = hashOf(login)
      const nowMs = clock.now()
      const codeHash = await registrations.takeTry(loginHash, nowMs)
      if (codeHash === undefined || !codes.isRight(codeHash, ['code', login, normaliseCode(given.code)]))
        return undefined
      const walletId = makeUuid(nowMs, random)
      const { token, session } = parts.sessions.make(walletId, given.place)
      const wallet = {
        walletId,
        login,
        name,
        behaviour: undefined,
        language: given.language,
        createdAtMs: nowMs,
        confirmedAtMs: showsCode ? undefined : nowMs,
        sealedPin: await sealHash({ secret: pin, place: placeOfPin(walletId) }, { vault, random }),
      }
      const consumer = { actor: `consumer@${given.place.address}` }
      const key = { loginHash, codeHash }
      const isMade = await registrations.register(
        key,
        { wallet, session },
        makeAuditEntry({ clock, random }, consumer, 'wallet.register', walletId),
      )
      // The first version of a new wallet.
      return isMade ? { token, walletId, login, accessVersion: 0 } : undefined
    },
  }
}

/** A deliverable address in the form of a login. */
function emailOf(typed: string): string | undefined {
  return normaliseEmail(normaliseLogin(typed) ?? '')
}
