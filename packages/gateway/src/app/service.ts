// What serves requests once the database is there: operations over the stores, the checkout's and the console's side of
// them, and the work that happens by itself. A part of the composition root with a file of its own.
import { refundStatuses } from '@tillgate/protocol'
import { makePrepareCallback } from '../callbacks/deliver-callbacks.ts'
import { makeResendCallbacks } from '../callbacks/resend-callbacks.ts'
import type { OpenDatabase } from '../database/open-database.ts'
import type { RunningCheckout } from '../faces/checkout/routes.ts'
import type { ConsoleService } from '../faces/console/service.ts'
import type { MerchantApi } from '../faces/merchant-api/merchant-api.ts'
import type { CookieJar } from '../http/cookies.ts'
import type { Readiness } from '../http/health.ts'
import type { PublishedKey } from '../keys/platform-keys.ts'
import { CallbackHosts } from '../merchants/callback-hosts.ts'
import { makeManageMerchants } from '../merchants/manage-merchants.ts'
import { makeOpenRequest } from '../merchants/open-request.ts'
import { makeCancelOrder } from '../orders/cancel-order.ts'
import { makeCreateOrder } from '../orders/create-order.ts'
import { makeCurrentOrder } from '../orders/current-order.ts'
import { OrderWatch } from '../orders/order-watch.ts'
import { makeQueryOrder } from '../orders/query-order.ts'
import { makeSubmitPayment } from '../payments/submit-payment.ts'
import { parseUrlPolicy } from '../platform/ssrf-guard.ts'
import { machineTime } from '../platform/timer.ts'
import { makeRefundOrder } from '../refunds/refund-order.ts'
import { makeSandboxAccess, type SandboxAccess, sandboxAccessActor } from '../sandbox/sandbox-access.ts'
import { makeSandboxAdvance } from '../sandbox/sandbox-advance.ts'
import { makeSandboxListen } from '../sandbox/sandbox-listen.ts'
import { makeSandboxPay } from '../sandbox/sandbox-pay.ts'
import { makeRefillTestWallet, withRefills } from '../sandbox/test-wallets.ts'
import type { Config } from '../settings/config.ts'
import { startCheckoutService } from './checkout-service.ts'
import { makeConsoleService } from './console-service.ts'
import { type Core, makeCore } from './core.ts'
import { ensureFirstThings, type FirstThingsParts } from './first-start.ts'
import type { Observability } from './observability.ts'
import { tracedApi } from './traced.ts'
import { openWayOut, startWork } from './work.ts'

/** What serves requests; it is there once the database is. */
export interface Service {
  readonly api: MerchantApi
  readonly checkout: RunningCheckout
  readonly console: ConsoleService
  readonly platformKeys: () => Promise<readonly PublishedKey[]>
  readonly readiness: () => Promise<Readiness>
  readonly figures: Core['figures']
  readonly sandboxAccess: SandboxAccess
  /** Answers requests that wait for something to happen, so that the listeners can close. */
  endWaits(): void
  stop(): Promise<void>
}

export interface ServiceParts extends FirstThingsParts {
  /** Whoever opens it closes it when this fails. */
  readonly opening: Promise<OpenDatabase>
  readonly jar: CookieJar
  readonly observability: Observability
}

export async function startService(config: Config, parts: ServiceParts): Promise<Service> {
  const { clock, log, random, observability } = parts
  const { metrics, tools, toolsHere } = observability
  const outbound = openWayOut(config)
  const core = await makeCore(await parts.opening, { config, observer: observability.coreObserver })
  metrics.poolMax.set(config.databasePoolMax)
  metrics.registry.beforeReading(() => {
    const { total, idle, waiting } = core.poolCounts()
    metrics.poolConnections.of('busy').set(total - idle)
    metrics.poolConnections.of('idle').set(idle)
    metrics.poolWaiting.set(waiting)
  })
  const { merchants, directory, wallets, payments, refunds, sandbox } = core
  // Whoever serves people sees to it that there is somebody to serve.
  if (config.roles.includes('api')) {
    await ensureFirstThings(config, core, parts)
  }
  const watch = new OrderWatch()
  watch.onCommitted((_key, status) => {
    const changes = Object.hasOwn(refundStatuses, status) ? metrics.refunds : metrics.orders
    changes.of(status).add()
  })
  const orders = watch.overOrders(core.orders)
  const work = startWork(config, { core, outbound, orders, watch, observability, clock, random, log })
  const currentOrder = makeCurrentOrder({ orders, random })
  const refill =
    config.mode === 'sandbox'
      ? makeRefillTestWallet({ wallets, treasury: core.treasury, clock, random })
      : undefined
  const payOnce = makeSubmitPayment({
    orders,
    currentOrder,
    payments,
    wallets,
    clock,
    random,
    onSubmitted: work.submitted,
  })
  const submitPayment = watch.overPaying(refill ? withRefills(payOnce, { orders, wallets, refill }) : payOnce)
  const listening = makeSandboxListen({
    listens: core.sandboxListens,
    prepare: makePrepareCallback({ directory, platformKeys: core.platformKeys, clock, tools }),
    clock,
    // Whoever waits holds one of the places for requests: most of them are for others.
    maxWaiting: Math.ceil(config.requestsInFlightMax / 4),
  })
  work.onQueued(listening.expects)
  const sandboxOperations = {
    'service.sandbox.pay': makeSandboxPay({ submitPayment, wallets }),
    'service.sandbox.listen': listening.listen,
    'service.sandbox.acknowledge': listening.acknowledge,
    'service.sandbox.advance': makeSandboxAdvance({
      orders,
      currentOrder,
      sandbox,
      clock,
      onAdvanced: ({ expiresAtMs }) => work.advanced(expiresAtMs),
    }),
  }
  const checkout = startCheckoutService({
    core,
    watch,
    currentOrder,
    submitPayment,
    refill,
    jar: parts.jar,
    clock,
    random,
    log,
  })
  const pendingOrders = metrics.orders.of('pending')
  return {
    api: tracedApi(
      {
        openRequest: makeOpenRequest({
          directory,
          clock,
          time: machineTime,
          toolsFor: ({ isQuiet }) => (isQuiet ? toolsHere : tools),
        }),
        operations: {
          'service.trade.create': makeCreateOrder({
            orders,
            currentOrder,
            callbackHosts: new CallbackHosts({
              merchants,
              directory,
              maxHostsPerDay: config.callbackHostsPerDay,
              clock,
            }),
            urlPolicy: parseUrlPolicy({ mode: config.mode, allowedTargets: config.callbackAllowedTargets }),
            publicUrl: parts.publicUrl,
            clock,
            random,
            onPending(expiresAtMs) {
              pendingOrders.add()
              work.expects(expiresAtMs)
            },
          }),
          'service.trade.query': makeQueryOrder({ refunds, currentOrder, clock }),
          'service.trade.cancel': makeCancelOrder({ orders, currentOrder, clock }),
          'service.trade.callback': makeResendCallbacks({ orders, resends: core.callbacks.resends, clock }),
          'service.trade.refund': makeRefundOrder({
            orders,
            currentOrder,
            refunds,
            clock,
            random,
            onSubmitted: work.submitted,
          }),
          ...(config.mode === 'sandbox' && sandboxOperations),
        },
      },
      observability.tracer,
    ),
    checkout,
    console: makeConsoleService({
      core,
      mode: config.mode,
      publicUrl: parts.publicUrl,
      orders,
      currentOrder,
      approvalPolicy: config.approvals,
      secondStepRoles: config.secondStepRoles,
      clock,
      random,
      log,
      onSubmitted: work.submitted,
    }),
    platformKeys: () => core.platformKeys.published(clock.now()),
    readiness: () => readinessOf(core),
    figures: core.figures,
    sandboxAccess: makeSandboxAccess({
      manage: makeManageMerchants({ merchants, vault: core.vault, clock, random, actor: sandboxAccessActor }),
      access: core.sandboxAccess,
      platformPublicKey: async () => (await core.platformKeys.signing(clock.now())).publicKey,
      maxPerDay: config.sandboxMerchantsPerDay,
      clock,
    }),
    endWaits: listening.stop,
    async stop() {
      await checkout.stop()
      await work.stop()
      await core.close()
    },
  }
}

async function readinessOf(core: Core): Promise<Readiness> {
  const writability = await core.writability()
  switch (writability.kind) {
    case 'writable':
      return { ready: true }
    case 'schema_missing':
      return { ready: false, reason: 'the database lacks the tables of this version' }
    case 'not_writable':
      return { ready: false, reason: 'the database does not take writes' }
  }
}
