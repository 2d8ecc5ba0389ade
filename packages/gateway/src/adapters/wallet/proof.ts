// Whoever is signed in proves anew who they are before money leaves or something changes that outlives the session; and what
// is said where a PIN was not right. Tries count as those to sign in do.
import type { SignIn } from '../../core/wallets/authenticate-wallet.ts'
import type { Language } from '../checkout/languages.ts'
import { type Done, type Refusal, type RefusalCode, refused, type Visit } from './wallet.ts'

export function refusalOf(
  outcome: Exclude<SignIn, { kind: 'signed_in' }>,
  { wrong, field, nowMs, language }: { wrong: RefusalCode; field: string; nowMs: number; language: Language },
): Refusal {
  const untilMs = outcome.kind === 'locked' ? outcome.untilMs : outcome.lockedUntilMs
  if (untilMs !== undefined)
    return { code: 'lockedUntil', field, values: { when: language.formats.inTime(untilMs - nowMs) } }
  return { code: outcome.kind === 'locked' ? 'locked' : wrong, field }
}

/** Undefined: it is them. */
export async function demandPin(visit: Visit, pin: string): Promise<Done | undefined> {
  const { service, wallet, address, device } = visit
  return proven(visit, () => service.authenticate({ login: wallet.login, pin, address, device }))
}

/** The same of what looks at the PIN itself. */
export async function proven(
  visit: Visit,
  prove: () => Promise<SignIn | { readonly kind: 'access_ended' }>,
): Promise<Done | undefined> {
  // Everybody knows the PIN of the sandbox's test wallets: nobody takes one from the others.
  if (visit.wallet.behaviour !== undefined) return refused('notNow')
  const end = visit.startProof()
  if (!end) return refused('busy')
  try {
    const outcome = await prove()
    if (outcome.kind === 'signed_in') return undefined
    if (outcome.kind === 'access_ended') return refused('notNow')
    return { kind: 'refused', refusal: refusalOf(outcome, { wrong: 'pinWrong', field: 'pin', ...visit }) }
  } finally {
    end()
  }
}
