// Confirmation with the PIN, before money leaves the wallet and before lasting changes. Failed attempts count like failed
// sign-ins.
import type { FieldError } from '../../actions/read-input.ts'
import type { SignIn } from '../../core/wallets/authenticate-wallet.ts'
import type { Language } from '../checkout/languages.ts'
import { type Refusal, type RefusalCode, refusal, refused, type Visit } from './wallet.ts'
import type { Words } from './words.ts'

interface Given {
  readonly wrong: RefusalCode
  readonly field: string
  readonly nowMs: number
  readonly language: Language
  readonly words: Words
}

export function errorOfSignIn(
  outcome: Exclude<SignIn, { kind: 'signed_in' }>,
  { wrong, field, nowMs, language, words }: Given,
): FieldError {
  const untilMs = outcome.kind === 'locked' ? outcome.untilMs : outcome.lockedUntilMs
  if (untilMs === undefined) return refusal(words, outcome.kind === 'locked' ? 'locked' : wrong, { field })
  const when = language.formats.inTime(untilMs - nowMs)
  return refusal(words, 'lockedUntil', { field, values: { when } })
}

/** Undefined if the PIN is right. */
export async function confirmPin(visit: Visit, pin: string): Promise<Refusal | undefined> {
  const { operations, wallet, address, device } = visit
  return confirmBy(visit, () => operations.authenticateWallet({ login: wallet.login, pin, address, device }))
}

/** For operations that check the PIN themselves. */
export async function confirmBy(
  visit: Visit,
  check: () => Promise<SignIn | { readonly kind: 'access_ended' }>,
): Promise<Refusal | undefined> {
  // The PIN of the sandbox's test wallets is public, so it cannot be changed.
  if (visit.wallet.behaviour !== undefined) return refused(visit, 'notNow')
  const end = visit.startProof()
  if (!end) return refused(visit, 'busy')
  try {
    const outcome = await check()
    if (outcome.kind === 'signed_in') return undefined
    if (outcome.kind === 'access_ended') return refused(visit, 'notNow')
    return {
      kind: 'refused',
      errors: [errorOfSignIn(outcome, { wrong: 'pinWrong', field: 'pin', ...visit })],
    }
  } finally {
    end()
  }
}
