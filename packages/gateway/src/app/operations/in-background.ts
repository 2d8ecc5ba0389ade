// Work of background jobs.

import { makePrune } from '../../actions/purge/prune.ts'
import { makePurgePartitions } from '../../actions/purge/purge-partitions.ts'
import { makePurgeRows } from '../../actions/purge/purge-rows.ts'
import {
  makeHoldCallback,
  makePrepareCallback,
  makeRecordAttempt,
} from '../../core/callbacks/deliver-callbacks.ts'
import { makePurgeEvents } from '../../core/callbacks/events/purge-events.ts'
import { makePurgeCallbacks } from '../../core/callbacks/purge-callbacks.ts'
import { makeSendEmails } from '../../core/emails/send-emails.ts'
import { makeErasePersonalData } from '../../core/orders/erase-personal-data.ts'
import { makeExpireOrders } from '../../core/orders/expire-orders.ts'
import type { Rail } from '../../core/orders/payments/rules/rail.ts'
import { makeSettle } from '../../core/orders/payments/settle.ts'
import { makeMakeBills } from '../../finance/bills/make-bills.ts'
import { countDueHour } from '../../finance/overview/count-due-hour.ts'
import { makeWorkPayouts } from '../../finance/payouts/work-payouts.ts'
import { makeSandboxRail } from '../../finance/rails/sandbox-rail.ts'
import { walletRail } from '../../finance/rails/wallet-rail.ts'
import { makeNotifyRefund } from '../../identity/consumers/notify-refund.ts'
import { requestLogDays } from '../../platform/request-log/request-log.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Stores } from '../database/stores.ts'
import type { Config } from '../settings/config.ts'
import type { Common } from './common.ts'
import type { OperationParts } from './parts.ts'

export interface BackgroundParts extends Pick<OperationParts, 'rail' | 'openMail' | 'sealingTools'> {
  readonly unsubscribeUrl: Parameters<typeof makeSendEmails>[0]['unsubscribeUrl']
}

export function operationsInBackground(stores: Stores, common: Common, parts: BackgroundParts) {
  const { config, clock } = common
  const preparing = { ...common, ...(parts.sealingTools && { tools: parts.sealingTools }) }
  const purgeCallbacks = makePurgeCallbacks({
    history: stores.callbackHistory,
    makeEmails: common.makeEmails,
    historyDays: config.callbackHistoryDays,
    purgeEvents: makePurgeEvents({ events: stores.events, feedDays: config.eventFeedDays, clock }),
    clock,
  })
  const purgePartitions = makePurgePartitions({
    ...stores,
    keepDays: { callback_attempts: config.callbackHistoryDays, request_log: requestLogDays },
    clock,
  })
  const purgeRows = makePurgeRows({ ...stores, clock })
  const erasePersonalData = makeErasePersonalData({
    ...stores,
    personalDataDays: config.personalDataDays,
    clock,
  })

  return {
    expireOrders: makeExpireOrders({ ...stores, ...common }),
    settle: makeSettle({
      ...stores,
      ...common,
      authorizationMs: config.authorizationMs,
      rail: parts.rail ?? railOf(config.mode, { ...stores, clock }),
      notifyRefund: config.mail && makeNotifyRefund({ ...stores, ...common }),
    }),
    askRails: common.askRails,
    collectDebts: () => stores.debts.collect({ nowMs: clock.now(), random: common.random }),
    workPayouts: makeWorkPayouts({ ...stores, ...common }),
    makeBills: makeMakeBills({ billMaker: stores.billMaker, clock }),
    prepareCallback: makePrepareCallback(preparing),
    /** Prepares callbacks for a program that fetches them. */
    prepareFetched: makePrepareCallback({ ...preparing, isFetched: true }),
    recordAttempt: makeRecordAttempt({ ...common, outcomes: stores.callbackOutcomes }),
    holdCallback: makeHoldCallback({ queue: stores.callbackQueue, clock }),
    purgeCallbacks,
    purgePartitions,
    purgeRows,
    erasePersonalData,
    sendEmails: makeSendEmails({
      ...stores,
      ...common,
      openMail: parts.openMail,
      operatorEmails: config.operatorEmails,
      unsubscribeUrl: parts.unsubscribeUrl,
    }),
    countDueHour: () => countDueHour(stores.overviewHours, clock.now()),
    prune: (signal: AbortSignal) =>
      makePrune({ purgeCallbacks, purgePartitions, purgeRows, erasePersonalData, clock, signal })(),
  }
}

/** In the sandbox, a wallet may have fixed behavior. */
function railOf(mode: Config['mode'], { wallets, clock }: Pick<Stores, 'wallets'> & { clock: Clock }): Rail {
  if (mode === 'live') return walletRail
  return makeSandboxRail({ clock, behaviourOf: async (id) => (await wallets.findWallet(id))?.behaviour })
}
