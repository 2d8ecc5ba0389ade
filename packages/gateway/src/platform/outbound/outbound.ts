// The outbound HTTP client: posts to addresses that merchants chose without exposing the gateway's own network.
// Network failures are returned as values.

import type { Delivery } from '../runtime/delivery.ts'
import { remember } from '../runtime/remember.ts'
import {
  checkUrl,
  type OwnListeners,
  parseUrlPolicy,
  publicOnly,
  type UrlPolicy,
} from '../runtime/ssrf-guard.ts'
import { type StartTimer, startSystemTimer } from '../runtime/timer.ts'
import { attempt, unreachable } from './attempt.ts'
import { type Dial, systemDial } from './dial.ts'
import { OutboundFailure } from './failure.ts'
import { assertLimits, type OutboundLimits } from './limits.ts'
import { type Lookup, makeSystemLookup } from './lookup.ts'
import { Origins } from './origins.ts'
import { makeSecureContext, readCertificates } from './trust.ts'

export interface OutboundPolicy extends OutboundLimits {
  readonly mode: 'sandbox' | 'live'
  // Internal targets that the operator allows: names, host:port, addresses or ranges.
  readonly allowedTargets: readonly string[]
  readonly ownListeners?: OwnListeners
  // PEM certificates that are trusted in addition to the machine's own.
  readonly extraCa?: string
}

export interface OutboundParts {
  readonly lookup: Lookup
  readonly dial: Dial
  readonly now: () => number
  readonly startTimer: StartTimer
}

export interface OutboundRequest {
  readonly url: string
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
  // For merchants that the operator did not onboard. In live mode every address is public.
  readonly isPublicOnly?: boolean
}

export interface Outbound {
  // Rejects only on misuse: an invalid header, or a call after close.
  post(request: OutboundRequest): Promise<Delivery>
  // Waits for running attempts.
  close(): Promise<void>
}

const urlsRemembered = 1_000

export function systemParts(): OutboundParts {
  return { lookup: makeSystemLookup(), dial: systemDial, now: Date.now, startTimer: startSystemTimer }
}

export function makeOutbound(policy: OutboundPolicy, parts: OutboundParts): Outbound {
  assertLimits(policy)
  const urlPolicy = parseUrlPolicy(policy)
  const extraCertificates = policy.extraCa === undefined ? [] : readCertificates(policy.extraCa)
  const secureContext = once(() => makeSecureContext(extraCertificates))
  // Every receiver needs it in live mode; a sandbox may never need it.
  if (policy.mode === 'live') secureContext()
  const { connectTimeoutMs, maxReadBytes } = policy
  const underPolicy = (given: UrlPolicy) => ({
    // Merchants use few addresses, and the same URL always gets the same verdict under one policy.
    check: remember((url: string) => checkUrl(url, given), { keyOf: (url) => url, most: urlsRemembered }),
    origins: new Origins(
      { ...parts, policy: given, secureContext, connectTimeoutMs, maxReadBytes },
      policy,
      parts.now,
    ),
  })
  // Two separate sets of connections, so that a connection to a private address is never reused for a merchant that
  // may not reach it.
  const vouchedFor = underPolicy(urlPolicy)
  const forPublic = underPolicy(publicOnly(urlPolicy))
  const { attemptTimeoutMs, maxAnswerBytes } = policy
  const settings = { attemptTimeoutMs, maxAnswerBytes, now: parts.now, startTimer: parts.startTimer }
  let isClosed = false

  async function post({ url, body, headers, isPublicOnly = false }: OutboundRequest): Promise<Delivery> {
    if (isClosed) throw new Error('the sender has been closed')
    const { check, origins } = isPublicOnly ? forPublic : vouchedFor
    const checked = check(url)
    if (checked.kind === 'refused') return unreachable(new OutboundFailure(checked.reason, checked.detail), 0)
    return attempt(
      origins.poolFor(checked.url),
      {
        method: 'POST',
        path: checked.url.pathname + checked.url.search,
        headers: { 'content-type': 'application/json', 'user-agent': 'Tillgate', ...headers },
        body,
      },
      settings,
    )
  }

  async function close(): Promise<void> {
    isClosed = true
    await Promise.all([vouchedFor.origins.close(), forPublic.origins.close()])
  }

  return { post, close }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
