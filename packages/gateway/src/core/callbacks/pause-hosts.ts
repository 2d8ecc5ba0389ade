// Pauses and resumes callbacks to a host. Callbacks wait meanwhile.

import { Failure } from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { makeAuditEntry } from '../audit/audit-entries.ts'
import { type AnyContext, reading } from '../authority/context.ts'
import type { CallbackPauseStore } from './store/callback-pauses.ts'

/** Far shorter than the time after which waiting callbacks are exhausted. */
export const maxPauseMs = 24 * 60 * 60 * 1000
const hostPattern = /^[a-z0-9.:[\]_-]{1,260}$/

export interface HostPauseWish {
  readonly host: string
  readonly forMs: number
  readonly reason: string
}

export type PauseHosts = ReturnType<typeof makePauseHosts>

export function makePauseHosts(parts: ClockAndRandom & { readonly pauses: CallbackPauseStore }) {
  const { pauses, clock } = parts
  return {
    async pauseHost(
      context: AnyContext,
      { host, forMs, reason }: HostPauseWish,
    ): Promise<{ untilMs: number }> {
      if (!hostPattern.test(host))
        throw new Failure('invalid_field', {
          field: 'host',
          message: 'The host must be written as in a callbackUrl, such as shop.example or shop.example:8443.',
        })
      if (!(Number.isInteger(forMs) && forMs > 0 && forMs <= maxPauseMs))
        throw new Failure('invalid_field', {
          message: 'A pause must be 1 ms to 24 hours.',
        })
      const nowMs = clock.now()
      const untilMs = nowMs + forMs
      await pauses.pauseHost(
        { host, nowMs, untilMs, reason: `paused by ${context.actor}: ${reason}` },
        makeAuditEntry(parts, context, 'callback-host.pause', host, { reason }),
      )
      return { untilMs }
    },

    async resumeHost(context: AnyContext, host: string, reason: string): Promise<void> {
      if (
        await pauses.resumeHost(
          host,
          makeAuditEntry(parts, context, 'callback-host.resume', host, { reason }),
        )
      )
        return
      throw new Failure('status_does_not_allow', {
        message: `Neither ${host} nor a destination there is paused or failing.`,
      })
    },

    countWaiting: reading(pauses.countWaiting),
  }
}
