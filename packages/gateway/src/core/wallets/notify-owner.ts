// Emails a wallet's owner, but only at a login that is a confirmed email address.

import type { Clock } from '../../platform/runtime/clock.ts'
import type { MakeEmails } from '../emails/make-emails.ts'
import { type NewEmail, normaliseEmail, writtenTime } from '../emails/rules/email.ts'
import type { Wallet } from './rules/wallet.ts'

export interface SignInPlace {
  readonly address: string
  readonly userAgent: string | undefined
}

export type NotifyOwner = ReturnType<typeof makeNotifyOwner>

export function mailTo({ login, language = 'en', confirmedAtMs }: Wallet) {
  const email = confirmedAtMs === undefined ? undefined : normaliseEmail(login)
  return email === undefined ? undefined : { email, language }
}

export function makeNotifyOwner({ makeEmails, clock }: { makeEmails: MakeEmails; clock: Clock }) {
  const notify = <K extends Parameters<MakeEmails>[0]>(
    kind: K,
    wallet: Wallet,
    parameters: Parameters<typeof makeEmails<K>>[1]['parameters'],
  ): readonly NewEmail[] => {
    const to = mailTo(wallet)
    return to ? makeEmails(kind, { to, parameters }) : []
  }
  return {
    pinChanged: (wallet: Wallet) => notify('pin-changed', wallet, {}),

    /** For a browser without a mark of this wallet. */
    newDevice: (wallet: Wallet, { address, userAgent }: SignInPlace) =>
      notify('new-device', wallet, {
        device: [userAgent, address].filter(Boolean).join(', '),
        time: writtenTime(clock.now()),
      }),

    refundArrived: (wallet: Wallet, refund: Readonly<Record<'amount' | 'merchant' | 'orderNo', string>>) =>
      notify('refund-arrived', wallet, refund),

    /** Returned by the bank or not executed. */
    withdrawalReturned: (wallet: Wallet, withdrawal: Readonly<Record<'amount' | 'reason', string>>) =>
      notify('withdrawal-returned', wallet, withdrawal),
  }
}
