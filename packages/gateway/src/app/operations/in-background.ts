// What happens by itself, when its time has come.
import { makeMakeBills } from '../../bills/make-bills.ts'
import {
  makeHoldCallback,
  makePrepareCallback,
  makeRecordAttempt,
} from '../../callbacks/deliver-callbacks.ts'
import { makeTidyCallbacks } from '../../callbacks/tidy-callbacks.ts'
import { makeTidyEvents } from '../../events/tidy-events.ts'
import { makeSendNotices } from '../../notices/send-notices.ts'
import { makeErasePersonalData } from '../../orders/erase-personal-data.ts'
import { makeExpireOrders } from '../../orders/expire-orders.ts'
import { countDueHour } from '../../overview/count-due-hour.ts'
import { makeSettleDue } from '../../payments/settle.ts'
import { makeWorkPayouts } from '../../payouts/work-payouts.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Rail } from '../../rails/rules/rail.ts'
import { makeSandboxRail } from '../../rails/sandbox-rail.ts'
import { walletRail } from '../../rails/wallet-rail.ts'
import type { Config } from '../../settings/config.ts'
import { makePrune } from '../../system/prune.ts'
import { requestLogDays } from '../../system/request-log.ts'
import { makeTidyPartitions } from '../../system/tidy-partitions.ts'
import { makeTidyRows } from '../../system/tidy-rows.ts'
import { makeTellRefund } from '../../wallets/tell-refund.ts'
import type { Stores } from '../stores.ts'
import type { Common } from './common.ts'
import type { OperationParts } from './parts.ts'

export interface BackgroundParts extends Pick<OperationParts, 'rail' | 'openMail' | 'sealingTools'> {
  readonly unsubscribeUrl: Parameters<typeof makeSendNotices>[0]['unsubscribeUrl']
}

export function operationsInBackground(stores: Stores, common: Common, parts: BackgroundParts) {
  const { config, clock, hints } = common
  const preparing = { ...common, ...(parts.sealingTools && { tools: parts.sealingTools }) }
  const tidyCallbacks = makeTidyCallbacks({
    history: stores.callbackHistory,
    makeNotices: common.makeNotices,
    historyDays: config.callbackHistoryDays,
    tidyEvents: makeTidyEvents({ events: stores.events, feedDays: config.eventFeedDays, clock }),
    clock,
  })
  const tidyPartitions = makeTidyPartitions({
    ...stores,
    keepDays: { callback_attempts: config.callbackHistoryDays, request_log: requestLogDays },
    clock,
  })
  const tidyRows = makeTidyRows({ ...stores, clock })
  const erasePersonalData = makeErasePersonalData({
    ...stores,
    personalDataDays: config.personalDataDays,
    clock,
  })

  return {
    expireOrders: makeExpireOrders({ ...stores, ...common }),
    settleDue: makeSettleDue({
      ...stores,
      ...common,
      rail: parts.rail ?? railOf(config.mode, { ...stores, clock }),
      tellRefund: config.mail && makeTellRefund({ ...stores, ...common }),
      onTrouble: (error, settlement) => hints.settlingFailed(error, settlement),
    }),
    askRails: common.askRails,
    workPayouts: makeWorkPayouts({ ...stores, ...common }),
    makeBills: makeMakeBills({ billMaker: stores.billMaker, clock }),
    prepareCallback: makePrepareCallback(preparing),
    /** The same for a program that fetches its callbacks. */
    prepareFetched: makePrepareCallback({ ...preparing, isFetched: true }),
    recordAttempt: makeRecordAttempt({ ...common, outcomes: stores.callbackOutcomes }),
    holdCallback: makeHoldCallback({ queue: stores.callbackQueue, clock }),
    tidyCallbacks,
    tidyPartitions,
    tidyRows,
    erasePersonalData,
    sendNotices: makeSendNotices({
      ...stores,
      ...common,
      openMail: parts.openMail,
      operatorEmails: config.operatorEmails,
      unsubscribeUrl: parts.unsubscribeUrl,
      onRecorded: (...told) => hints.noticeRecorded(...told),
    }),
    countDueHour: () => countDueHour(stores.overviewHours, clock.now()),
    prune: (signal: AbortSignal) =>
      makePrune({ tidyCallbacks, tidyPartitions, tidyRows, erasePersonalData, clock, signal })(),
  }
}

/** In the sandbox a wallet may have a fixed behaviour. */
function railOf(mode: Config['mode'], { wallets, clock }: Pick<Stores, 'wallets'> & { clock: Clock }): Rail {
  if (mode === 'live') return walletRail
  return makeSandboxRail({ clock, behaviourOf: async (id) => (await wallets.findWallet(id))?.behaviour })
}
