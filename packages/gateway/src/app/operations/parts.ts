// What operations are made from beside the stores.
import type { SealingTools } from '@tillgate/protocol'
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
  /** Left out, what the mode asks for. */
  readonly rail?: Rail
  /** Sends to outside rails; left out, none can be reached. */
  readonly railPost?: RailPost
  /** Sends emails; left out, they wait for a process that does. */
  readonly openMail?: (() => MailSession) | undefined
  /** No callback and no message to a rail goes there; left out, nothing listens. */
  readonly ownListeners?: OwnListeners
  /** Looks up the hosts of callbacks; left out, orders never warn about them. */
  readonly lookup?: Lookup
  /** Seals callbacks; left out, the protocol's own. */
  readonly sealingTools?: SealingTools
  /** Reads statements' files; left out, in the thread that asks. */
  readonly statementFiles?: StatementFiles
  /** Passes on what commits changed; left out, others find it by looking. */
  readonly publish?: Publish
  readonly log: Log
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
