// The test bank of the sandbox, registered as an ordinary rail. Its file is authoritative, and the database is made to
// match it at every start.

import { currencies, Failure } from '@tillgate/protocol'
import { reachingAll } from '../core/authority/context.ts'
import type { Order } from '../core/orders/rules/order.ts'
import { type ManageRailsParts, makeManageRails } from '../finance/rails/manage-rails.ts'
import type { PayByRail, RailPaymentOutcome } from '../finance/rails/pay-by-rail.ts'
import type { RailPost } from '../finance/rails/rail-client.ts'
import { RailDirectory } from '../finance/rails/rail-directory.ts'
import { defaultPosition } from '../finance/rails/rules/outside-rail.ts'

export const testBankRailId = 'test-bank'
/** The choices on its page, in order. */
export const bankChoices = ['approve', 'decline', 'delay', 'late', 'twice', 'never'] as const
export type BankChoice = (typeof bankChoices)[number]

export interface ChooseAtTestBankParts {
  readonly payByRail: Pick<PayByRail, 'start' | 'look'>
  readonly post: RailPost
}

/** Chooses the test bank and its outcome on the bank's page in one step, as a consumer would. */
export function makeChooseAtTestBank({ payByRail, post }: ChooseAtTestBankParts) {
  return async (order: Order, choice: BankChoice, locale: string): Promise<RailPaymentOutcome> => {
    const outcome = await payByRail.start({ ...order, railId: testBankRailId, locale })
    if (outcome.kind !== 'started') return outcome
    const { nextAction, transactionId } = outcome.attempt
    if (nextAction?.kind !== 'redirect') return outcome
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    await post({ url: nextAction.url, body: `choice=${choice}`, headers })
    const attempt = await payByRail.look({ ...order, openAttempt: transactionId })
    return attempt ? { kind: 'started', attempt } : outcome
  }
}

export interface TestBankRail {
  readonly railId: string
  readonly name: string
  readonly url: string
  readonly secret: string
}

export async function ensureTestBank(
  { railId, name, url, secret }: TestBankRail,
  given: Omit<ManageRailsParts, 'mode'>,
): Promise<void> {
  const manage = makeManageRails({ ...given, mode: 'sandbox' })
  const sandbox = reachingAll('sandbox')
  const reason = 'the test bank beside the sandbox'
  const settings = {
    name,
    names: {},
    url,
    currencies: Object.keys(currencies),
    leastMinor: {},
    mostMinor: {},
    merchants: undefined,
    position: defaultPosition,
    logo: undefined,
    authorizationDays: 7,
  }
  const { rails: store, vault, clock } = given
  const known = await new RailDirectory({ store, vault, clock }).find(railId)
  if (!known) {
    await manage.addRail(sandbox, railId, settings, reason, secret).catch((error: unknown) => {
      // Another gateway that started at the same time was first.
      if (!(error instanceof Failure && error.failure === 'status_does_not_allow')) throw error
    })
    return
  }
  if (known.rail.url !== url) await manage.changeRail(sandbox, railId, { url }, reason)
  if (known.secrets[0] !== secret)
    await manage.rotateSecret(sandbox, railId, { endsOthers: true, reason }, secret)
}
