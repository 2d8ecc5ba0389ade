// What operations are made from beside the stores, and what they tell of.
import type { SealingTools } from '@tillgate/protocol'
import type { ClaimedNotice, NoticeState } from '../../notices/rules/notice.ts'
import type { SettleParts } from '../../payments/settle.ts'
import type { ClockAndRandom } from '../../platform/clock.ts'
import type { MailSession } from '../../platform/outside/mail.ts'
import type { OwnListeners } from '../../platform/ssrf-guard.ts'
import type { Vault } from '../../platform/vault.ts'
import type { RailPost } from '../../rails/rail-client.ts'
import type { Rail } from '../../rails/rules/rail.ts'
import type { ClaimedTask } from '../../rails/rules/rail-task.ts'
import type { ReconciledDay } from '../../reconciliation/store/days.ts'
import type { Config } from '../../settings/config.ts'

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
  /** No callback goes there; left out, nothing listens. */
  readonly ownListeners?: OwnListeners
  /** Seals callbacks; left out, the protocol's own. */
  readonly sealingTools?: SealingTools
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
  /** What a break waits for was carried out. */
  reconcile(): void
  /** The times of an order were moved. */
  advanced(expiresAtMs: number): void
  readonly settlingFailed: SettleParts['onTrouble']
  askingFailed(error: unknown, task: ClaimedTask): void
  /** What somebody should know of a rail. */
  railAlert(message: string, about: RailAlertAbout): void
  /** A day of an outside account was closed with money that nobody can explain. */
  unexplained(day: ReconciledDay): void
  countingFailed(error: unknown): void
  noticeRecorded(notice: ClaimedNotice, state: NoticeState, error: string | undefined): void
}

type RailAlertAbout = Pick<ClaimedTask, 'railId'> & Partial<Pick<ClaimedTask, 'merchantId' | 'paymentId'>>

export const unheard: OperationHints = {
  pending() {},
  submitted() {},
  railTask() {},
  payouts() {},
  reconcile() {},
  advanced() {},
  settlingFailed() {},
  askingFailed() {},
  railAlert() {},
  unexplained() {},
  countingFailed() {},
  noticeRecorded() {},
}
