// What the owner of a wallet is told by mail: to the login itself, where that is an address that its owner confirmed. Nobody
// else's mailbox is written to.

import type { Clock } from '../../platform/runtime/clock.ts'
import type { MakeEmails } from '../emails/make-emails.ts'
import { type NewEmail, normaliseEmail, writtenTime } from '../emails/rules/email.ts'
import type { Wallet } from './rules/wallet.ts'

/** From where somebody signs in. */
export interface SignInPlace {
  readonly address: string
  /** What the browser calls itself. */
  readonly userAgent: string | undefined
}

export type NotifyOwner = ReturnType<typeof makeNotifyOwner>

export function mailTo({ login, language = 'en', confirmedAtMs }: Wallet) {
  const email = confirmedAtMs === undefined ? undefined : normaliseEmail(login)
  return email === undefined ? undefined : { email, language }
}

export function makeNotifyOwner({ makeEmails, clock }: { makeEmails: MakeEmails; clock: Clock }) {
  const tell = <K extends Parameters<MakeEmails>[0]>(
    kind: K,
    wallet: Wallet,
    parameters: Parameters<typeof makeEmails<K>>[1]['parameters'],
  ): readonly NewEmail[] => {
    const to = mailTo(wallet)
    return to ? makeEmails(kind, { to, parameters }) : []
  }
  return {
    pinChanged: (wallet: Wallet) => tell('pin-changed', wallet, {}),

    /** Of a browser that has no mark of this wallet. */
    newDevice: (wallet: Wallet, { address, userAgent }: SignInPlace) =>
      tell('new-device', wallet, {
        device: [userAgent, address].filter(Boolean).join(', '),
        time: writtenTime(clock.now()),
      }),

    refundArrived: (wallet: Wallet, refund: Readonly<Record<'amount' | 'merchant' | 'orderNo', string>>) =>
      tell('refund-arrived', wallet, refund),

    /** Sent back by the bank, or not carried out. */
    withdrawalReturned: (wallet: Wallet, withdrawal: Readonly<Record<'amount' | 'reason', string>>) =>
      tell('withdrawal-returned', wallet, withdrawal),
  }
}
