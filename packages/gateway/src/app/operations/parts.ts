// What operations need besides the stores.
import type { SealingTools } from '@tillgate/protocol'
import type { Post } from '../../core/callbacks/deliver-callbacks.ts'
import type { Publish } from '../../core/changes/rules/change.ts'
import type { Rail } from '../../core/orders/payments/rules/rail.ts'
import type { RailPost } from '../../finance/rails/rail-client.ts'
import type { StatementFiles } from '../../finance/reconciliation/read-file.ts'
import type { Lookup } from '../../platform/outbound/lookup.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { MailSession } from '../../platform/runtime/outside/mail.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import type { OwnListeners } from '../../platform/runtime/ssrf-guard.ts'
import type { Config } from '../settings/config.ts'

export interface OperationParts extends ClockAndRandom {
  readonly config: OperationConfig
  readonly publicUrl: string
  readonly vault: Vault
  /** The default depends on the mode. */
  readonly rail?: Rail
  /** Sends messages to external rails; if undefined, none can be reached. */
  readonly railPost?: RailPost
  /** Sends test events to merchants' endpoints; if undefined, none can be reached. */
  readonly callbackPost?: Post
  /** Sends emails; if undefined, they wait for a process that does. */
  readonly openMail?: (() => MailSession) | undefined
  /** Addresses to which no callback or rail message may go; undefined if nothing listens. */
  readonly ownListeners?: OwnListeners
  /** Resolves the hosts of callbacks; if undefined, orders never warn about them. */
  readonly lookup?: Lookup
  /** Seals callbacks; by default the protocol's own tools. */
  readonly sealingTools?: SealingTools
  /** Parses statement files; by default in the calling thread. */
  readonly statementFiles?: StatementFiles
  /** Publishes changes after commits; if undefined, other parts find them by polling. */
  readonly publish?: Publish
  readonly log: Log
}

export type OperationConfig = Pick<
  Config,
  | 'mode'
  | 'approvals'
  | 'authorizationMs'
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
  | 'scanLimits'
  | 'walletLimits'
  | 'withdrawalLimits'
>
