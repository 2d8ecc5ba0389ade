// Limits per address and per login in the wallet. A PIN check costs 100 ms and 32 MiB, and a code by email may go to a
// person who did not request it.
import { createHash } from 'node:crypto'
import { normaliseLogin } from '../../core/wallets/rules/wallet.ts'
import { addressKey } from '../../platform/http/admission/addresses.ts'
import { RateLimiter } from '../../platform/http/admission/rate-limiter.ts'
import { Slots } from '../../platform/http/admission/slots.ts'
import type { Clock } from '../../platform/runtime/clock.ts'

const maxProofsUnderWay = 16

export class WalletLimits {
  readonly #looks: RateLimiter
  readonly #proofs: RateLimiter
  readonly #mailsByAddress: RateLimiter
  readonly #mailsByLogin: RateLimiter
  readonly #underWay = new Slots({ total: maxProofsUnderWay, perKey: maxProofsUnderWay })

  constructor(clock: Clock) {
    // Many people may share an address.
    this.#looks = new RateLimiter({ clock, rate: { perSecond: 50, burst: 500 } })
    this.#proofs = new RateLimiter({ clock, rate: { perSecond: 0.5, burst: 30 } })
    this.#mailsByAddress = new RateLimiter({ clock, rate: { perSecond: 1 / 300, burst: 10 } })
    this.#mailsByLogin = new RateLimiter({ clock, rate: { perSecond: 1 / 3_600, burst: 5 } })
  }

  /** 0, or the wait in milliseconds. */
  takeLook(address: string): number {
    return this.#looks.take(addressKey(address))
  }

  /** Undefined beyond the limit; otherwise the function releases the slot. */
  startProof(address: string): (() => void) | undefined {
    const giveBack = this.#underWay.take('')
    if (!giveBack) return undefined
    if (this.#proofs.take(addressKey(address)) === 0) return giveBack
    giveBack()
    return undefined
  }

  /** False beyond the limit, for known and unknown logins alike. */
  takeMail(address: string, typedLogin: string): boolean {
    const login = createHash('sha256')
      .update(normaliseLogin(typedLogin) ?? '')
      .digest('base64url')
    return this.#mailsByAddress.take(addressKey(address)) === 0 && this.#mailsByLogin.take(login) === 0
  }
}
