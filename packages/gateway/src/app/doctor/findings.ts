// The form of the doctor's findings.
import type { Finding } from '../../adapters/cli/doctor.ts'
import { messageOf } from '../../platform/runtime/errors.ts'

export const ok = (check: string, found: string): Finding => ({ check, outcome: 'ok', found })
export const skipped = (check: string, found: string): Finding => ({ check, outcome: 'skipped', found })
export const failed = (check: string, found: string, fix: string): Finding => ({
  check,
  outcome: 'failed',
  found,
  fix,
})
export const warning = (check: string, found: string, fix: string): Finding => ({
  ...failed(check, found, fix),
  outcome: 'warning',
})

/** The first line or sentence of a failed start is the problem, and the rest is the fix. */
export function failedBy(check: string, error: unknown): Finding {
  const [found = '', ...rest] = messageOf(error).split(/\n|(?<=\.) /)
  return failed(check, found, rest.join(' ') || 'Look for the reason in the gateway’s log.')
}
