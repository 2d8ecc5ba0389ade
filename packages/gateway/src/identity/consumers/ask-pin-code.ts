// A consumer who forgot the PIN requests a code by email. The code goes to the login if that is a confirmed address.
// The response is always the same and is sent before the lookup, so it reveals nothing.
import type { MakeEmails } from '../../core/emails/make-emails.ts'
import type { EmailLanguage } from '../../core/emails/rules/email.ts'
import { mailTo } from '../../core/wallets/notify-owner.ts'
import { makePinResetCode, pinResetLimits } from '../../core/wallets/rules/pin-reset.ts'
import { normaliseLogin } from '../../core/wallets/rules/wallet.ts'
import type { WalletStore } from '../../core/wallets/store/wallets.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import type { PinResetStore } from './store/pin-resets.ts'

export interface AskPinCodeParts extends ClockAndRandom {
  readonly wallets: Pick<WalletStore, 'findWalletByLogin'>
  readonly resets: Pick<PinResetStore, 'mail'>
  readonly codes: Tokens
  readonly makeEmails: MakeEmails
}

export type AskPinCode = (typedLogin: string, language: EmailLanguage) => Promise<void>

export function makeAskPinCode(parts: AskPinCodeParts): AskPinCode {
  const { wallets, resets, codes, clock, random } = parts
  return async (typedLogin, language) => {
    const wallet = await wallets.findWalletByLogin(normaliseLogin(typedLogin) ?? '')
    const to = wallet && mailTo(wallet)
    const code = makePinResetCode(random)
    const nowMs = clock.now()
    const walletId = to ? wallet.walletId : ''
    const emails = parts.makeEmails('pin-code', {
      to: { email: to?.email ?? '', language: wallet?.language ?? language },
      parameters: {},
      link: code,
      giveUpAtMs: nowMs + pinResetLimits.lifeMs,
    })
    await resets.mail({ walletId, codeHash: codes.make([walletId, code]), nowMs, emails })
  }
}
