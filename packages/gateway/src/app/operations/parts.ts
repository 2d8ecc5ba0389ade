// What operations are made from beside the stores, and what they tell of.
import type { SealingTools } from '@tillgate/protocol'
import type { ClaimedNotice, NoticeState } from '../../core/emails/rules/notice.ts'
import type { Rail } from '../../core/orders/payments/rules/rail.ts'
import type { ClaimedTask } from '../../core/orders/payments/rules/rail-task.ts'
import type { SettleParts } from '../../core/orders/payments/settle.ts'
import type { FailedCall, RailPost } from '../../finance/rails/rail-client.ts'
import type { StatementFiles } from '../../finance/reconciliation/read-file.ts'
import type { ReconciledDay } from '../../finance/reconciliation/store/days.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { MailSession } from '../../platform/runtime/outside/mail.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import type { OwnListeners } from '../../platform/runtime/ssrf-guard.ts'
import type { Config } from '../settings/config.ts'

export interface OperationParts extends ClockAndRandom {
  readonly config: OperationConfig
  readonly publicUrl: string
  readonly vault: Vault
  /** Left out, what the mode asks for. */
  readonly rail?: Rail
  /** Sends to outside rails; left out, none can be reached. */
  readonly railPost?: RailPost
  /** Sends notices; left out, they wait for a process that does. */
  readonly openMail?: (() => MailSession) | undefined
  /** No callback and no message to a rail goes there; left out, nothing listens. */
  readonly ownListeners?: OwnListeners
  /** Seals callbacks; left out, the protocol's own. */
  readonly sealingTools?: SealingTools
  /** Reads statements' files; left out, in the thread that asks. */
  readonly statementFiles?: StatementFiles
  readonly hints?: Partial<OperationHints>
}

export type OperationConfig = Pick<
  Config,
  | 'mode'
  | 'approvals'
  | 'bankAccountWaitMs'
  | 'callbackAllowedTargets'
  | 'callbackHistoryDays'
  | 'callbackHostsPerDay'
  | 'eventFeedDays'
  | 'lateMoney'
  | 'personalDataDays'
  | 'mail'
  | 'openId'
  | 'operator'
  | 'operatorEmails'
  | 'requestsInFlightMax'
  | 'sandboxMerchantsPerDay'
  | 'walletLimits'
  | 'withdrawalLimits'
>

/** What operations tell of, so that nobody needs to look for it. None of it is needed for anything to be right. */
export interface OperationHints {
  /** An order was made that expires then. */
  pending(expiresAtMs: number): void
  /** A payment or a refund waits for its rail. */
  submitted(): void
  /** Something waits for an outside rail. */
  railTask(): void
  /** Payouts are to be made, or ended. */
  payouts(): void
  /** The times of an order were moved. */
  advanced(expiresAtMs: number): void
  readonly settlingFailed: SettleParts['onTrouble']
  askingFailed(error: unknown, task: ClaimedTask): void
  /** The reason in full, which operators do not read elsewhere. */
  railCallFailed(failed: FailedCall): void
  /** What somebody should know of a rail. */
  railAlert(message: string, about: RailAlertAbout): void
  /** A day of an outside account was closed with money that nobody can explain. */
  unexplained(day: ReconciledDay): void
  countingFailed(error: unknown): void
  /** A merchant's requests use another AES key, and callbacks follow. */
  keyInUseChanged(merchantId: string): void
  keyUseFailed(error: unknown, merchantId: string): void
  noticeRecorded(notice: ClaimedNotice, state: NoticeState, error: string | undefined): void
}

type RailAlertAbout = Pick<ClaimedTask, 'railId'> & Partial<Pick<ClaimedTask, 'merchantId' | 'paymentId'>>

export const unheard: OperationHints = {
  pending() {},
  submitted() {},
  railTask() {},
  payouts() {},
  advanced() {},
  settlingFailed() {},
  askingFailed() {},
  railCallFailed() {},
  railAlert() {},
  unexplained() {},
  countingFailed() {},
  keyInUseChanged() {},
  keyUseFailed() {},
  noticeRecorded() {},
}
