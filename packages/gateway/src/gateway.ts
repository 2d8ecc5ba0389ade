// The composition root: builds the parts, starts them in order and stops them in reverse. Nothing else knows
// which concrete part stands behind an interface. Tests start gateways with it too.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Failure, type RandomBytes, refundStatuses } from '@tillgate/protocol'
import type { FastifyInstance } from 'fastify'
import { startCheckoutService } from './checkout-service.ts'
import type { Clock } from './clock.ts'
import { type Config, ConfigurationFailure, operatorPasswordMissing } from './config.ts'
import { makeConsoleService } from './console-service.ts'
import { type Core, openCore } from './core.ts'
import type { DatabaseEvent } from './database/open-database.ts'
import { isTransient } from './database/transient.ts'
import { parseUrlPolicy } from './domain/url-rules.ts'
import { serveAdminApi } from './http/admin-api/serve.ts'
import { makeAnswerLog, type NoteAnswered } from './http/answered.ts'
import { ApiLimits } from './http/api-limits.ts'
import { serveAssets } from './http/assets.ts'
import { bind } from './http/bind.ts'
import { type CookieJar, makeCookieJar } from './http/checkout/cookies.ts'
import { type RunningCheckout, serveCheckout } from './http/checkout/routes.ts'
import { makeDownloads } from './http/console/downloads.ts'
import { serveConsole } from './http/console/routes.ts'
import type { ConsoleService } from './http/console/service.ts'
import { makeClientAddress } from './http/direct.ts'
import { serveDocs } from './http/docs/routes.ts'
import { drainBeforeClosing } from './http/drain.ts'
import type { Readiness } from './http/health.ts'
import { makeListener } from './http/listener.ts'
import { type MerchantApi, makeMerchantApi } from './http/merchant-api.ts'
import { serveMetrics } from './http/metrics.ts'
import { serveHome } from './http/pages/home.ts'
import { servePlatformKeys } from './http/platform-keys.ts'
import { serveSandboxAccess } from './http/sandbox/access.ts'
import { servePlayground } from './http/sandbox/playground.ts'
import type { Log } from './log.ts'
import type { Snapshot } from './metrics/registry.ts'
import { makeObservability, type Observability } from './observability.ts'
import { CallbackHosts } from './operations/callback-hosts.ts'
import { makeCancelOrder } from './operations/cancel-order.ts'
import { makeCreateOrder } from './operations/create-order.ts'
import { makeCurrentOrder } from './operations/current-order.ts'
import { makePrepareCallback } from './operations/deliver-callbacks.ts'
import { ensureFirstOperator } from './operations/first-operator.ts'
import { makeManageMerchants } from './operations/manage-merchants.ts'
import { makeOpenRequest } from './operations/open-request.ts'
import { OrderWatch } from './operations/order-watch.ts'
import type { PublishedKey } from './operations/platform-keys.ts'
import { makeQueryOrder } from './operations/query-order.ts'
import { makeRefundOrder } from './operations/refund-order.ts'
import { makeResendCallbacks } from './operations/resend-callbacks.ts'
import { makeSandboxAccess, type SandboxAccess, sandboxAccessActor } from './operations/sandbox-access.ts'
import { makeSandboxAdvance } from './operations/sandbox-advance.ts'
import { makeSandboxListen } from './operations/sandbox-listen.ts'
import { ensureSandboxMerchant } from './operations/sandbox-merchant.ts'
import { makeSandboxPay } from './operations/sandbox-pay.ts'
import { makeSubmitPayment } from './operations/submit-payment.ts'
import { ensureTestWallets } from './operations/test-wallets.ts'
import { startSystemTimer } from './outbound/timer.ts'
import { makeRandom } from './random.ts'
import { isFileTrouble, sandboxFile } from './sandbox-file.ts'
import { tracedApi, tracedDirect, traceRequests } from './tracing/traced.ts'
import { version } from './version.ts'
import { openWayOut, startWork } from './work.ts'

/** The repository's root, where docs/ is; an installation may come without it. */
const papersRoot = join(import.meta.dirname, '../../..')

/** Without the role api nothing is served that would show an address. */
const unservedUrl = 'http://localhost'

export interface GatewayParts {
  readonly log: Log
  readonly clock: Clock
  readonly tell: (event: DatabaseEvent) => void
  /** Gives up a start that is under way. */
  readonly signal: AbortSignal
  /** The first start made the first operator, with a password that is told this once. */
  readonly onFirstOperator?: (made: { login: string; password: string }) => void
  /** Where the demo shop is, once it is open. */
  readonly shopUrl?: () => string | undefined
  /**
   * Others serve at these ports already, and have this public address: it joins them when it can serve. Left out, it
   * takes the ports first and answers 50300 until it is ready.
   */
  readonly joins?: { readonly publicUrl: string }
  /** From this process's metrics to those of all processes of the gateway. Left out: it is the only one. */
  readonly shareMetrics?: (own: () => Snapshot) => () => Promise<Snapshot>
}

export interface Gateway {
  /** Empty where the role api is not served. */
  readonly publicUrl: string
  /** Where the public listener is on this machine, whatever its public address. */
  readonly localUrl: string
  readonly adminUrl: string
  /**
   * Finishes what is under way, then stops everything that was started. Patient: it waits a moment for open
   * connections to be used once more, so that no request meets a closed one.
   */
  stop(options?: { isPatient: boolean }): Promise<void>
}

/** What serves requests; it is there once the database is. */
interface Service {
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

export async function startGateway(config: Config, parts: GatewayParts): Promise<Gateway> {
  let service: Service | undefined
  let stopping = false
  let isPatient = false
  const isApi = config.roles.includes('api')

  const readiness = async (): Promise<Readiness> => {
    if (stopping) return { ready: false, reason: 'the gateway is stopping' }
    if (!service) return { ready: false, reason: 'the gateway is starting' }
    return service.readiness()
  }
  const random = makeRandom()
  const observability = makeObservability(config, {
    clock: parts.clock,
    random,
    figures: () => service?.figures,
    share: parts.shareMetrics ?? ((own) => async () => own()),
  })
  const { metrics, tracer } = observability
  const listenerParts = {
    log: parts.log,
    newRequestId: () => Buffer.from(random(12)).toString('base64url'),
    readiness,
    isUnavailable: isTransient,
    trustedProxies: config.trustedProxies,
  }
  const running = (): Service => {
    if (!service) throw new Failure('unavailable', { retryAfterSeconds: 1 })
    return service
  }
  const limits = new ApiLimits({
    ...config,
    clock: parts.clock,
    onShed: (reason) => metrics.shed.of(reason).add(),
  })
  metrics.registry.beforeReading(() => metrics.inFlight.set(limits.inFlight))
  const logAnswered = makeAnswerLog({ log: parts.log, clock: parts.clock })
  const answeredAt = (listener: 'public' | 'admin'): NoteAnswered => {
    const count = observability.onAnswered(listener)
    return (answered) => {
      count(answered)
      logAnswered(answered)
    }
  }
  const onPublicAnswered = answeredAt('public')
  const publicListener = makeListener({
    ...listenerParts,
    onAnswered: onPublicAnswered,
    direct: tracedDirect(
      makeMerchantApi({
        ...listenerParts,
        api: () => running().api,
        limits,
        clientAddress: makeClientAddress(config.trustedProxies),
        isClosing: () => stopping,
        onAnswered: onPublicAnswered,
      }),
      tracer,
    ),
  })
  const adminListener = makeListener({ ...listenerParts, onAnswered: answeredAt('admin') })
  const listeners = isApi ? [publicListener, adminListener] : [adminListener]

  if (tracer) for (const listener of listeners) traceRequests(listener, tracer)

  let publicUrl = config.publicUrl ?? ''
  for (const listener of listeners) serveAssets(listener)
  serveHome(publicListener, {
    mode: config.mode,
    version,
    publicUrl: () => publicUrl,
    shopUrl: parts.shopUrl ?? (() => undefined),
    isAccessGiven: isAccessGiven(config),
    hasDocs: existsSync(join(papersRoot, 'docs')),
    readiness,
  })
  serveDocs(publicListener, {
    root: papersRoot,
    mode: config.mode,
    publicUrl: () => publicUrl,
    clock: parts.clock,
  })
  const newNonce = () => Buffer.from(random(16)).toString('base64')
  const jar = makeCookieJar({ isSecure: config.mode === 'live' })
  serveCheckout(publicListener, {
    mode: config.mode,
    publicUrl: () => publicUrl,
    jar,
    random,
    clock: parts.clock,
    isUnavailable: isTransient,
    running: () => running().checkout,
  })
  if (isAccessGiven(config)) {
    serveSandboxAccess(publicListener, {
      access: () => running().sandboxAccess,
      publicUrl: () => publicUrl,
      newNonce,
      clock: parts.clock,
    })
  }
  if (config.mode === 'sandbox') {
    servePlayground(publicListener, { newNonce, isAccessGiven: isAccessGiven(config) })
  }
  if (isApi) {
    const downloads = makeDownloads(parts.clock)
    serveConsole(adminListener, {
      mode: config.mode,
      random,
      clock: parts.clock,
      log: parts.log,
      downloads,
      isUnavailable: isTransient,
      running: () => running().console,
    })
    serveAdminApi(adminListener, {
      mode: config.mode,
      clock: parts.clock,
      limits: new ApiLimits({ ...config, clock: parts.clock }),
      downloads,
      running: () => running().console,
    })
  }
  servePlatformKeys(publicListener, async () => running().platformKeys())
  serveMetrics(adminListener, { read: observability.read, token: config.metricsToken })

  for (const listener of listeners)
    drainBeforeClosing(listener, { clock: parts.clock, isPatient: () => isPatient })

  const bindAll = async () => ({
    localUrl: isApi
      ? await bind(publicListener, { ...config.publicListener, hostSetting: 'HOST', portSetting: 'PORT' })
      : '',
    adminUrl: await bind(adminListener, {
      ...config.adminListener,
      hostSetting: 'ADMIN_HOST',
      portSetting: 'ADMIN_PORT',
    }),
  })
  const startServing = (address: string) =>
    startService(config, { ...parts, publicUrl: address, random, jar, observability })

  try {
    const { joins } = parts
    if (joins) {
      publicUrl = joins.publicUrl
      service = await startServing(publicUrl || unservedUrl)
      return { publicUrl, ...(await bindAll()), stop }
    }
    // First the ports: whoever starts a second gateway by mistake learns it before anything else happens.
    const { localUrl, adminUrl } = await bindAll()
    publicUrl = isApi ? publicUrl || localUrl : ''
    service = await startServing(publicUrl || unservedUrl)
    return { publicUrl, localUrl, adminUrl, stop }
  } catch (error) {
    await stop()
    throw error
  }

  async function stop(options = { isPatient: false }): Promise<void> {
    stopping = true
    isPatient = options.isPatient
    service?.endWaits()
    await Promise.all(listeners.map((listener: FastifyInstance) => listener.close()))
    await service?.stop()
    await observability.stop()
  }
}

interface ServiceParts extends GatewayParts {
  readonly publicUrl: string
  readonly random: RandomBytes
  readonly jar: CookieJar
  readonly observability: Observability
}

async function startService(config: Config, parts: ServiceParts): Promise<Service> {
  const { clock, log, random, observability } = parts
  const { metrics, tools } = observability
  const outbound = openWayOut(config)
  const core = await openCore({
    config,
    tell: parts.tell,
    signal: parts.signal,
    observer: observability.coreObserver,
  })
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
    await ensureFirstThings(config, core, parts).catch(async (error: unknown) => {
      await core.close()
      throw error
    })
  }
  const watch = new OrderWatch()
  watch.onCommitted((_key, status) => {
    const changes = Object.hasOwn(refundStatuses, status) ? metrics.refunds : metrics.orders
    changes.of(status).add()
  })
  const orders = watch.overOrders(core.orders)
  const work = startWork(config, { core, outbound, orders, watch, observability, clock, random, log })
  const currentOrder = makeCurrentOrder({ orders, random })
  const submitPayment = watch.overPaying(
    makeSubmitPayment({
      orders,
      currentOrder,
      payments,
      wallets,
      clock,
      random,
      onSubmitted: work.submitted,
    }),
  )
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
    jar: parts.jar,
    clock,
    random,
    log,
  })
  const pendingOrders = metrics.orders.of('pending')
  return {
    api: tracedApi(
      {
        openRequest: makeOpenRequest({ directory, clock, startTimer: startSystemTimer, tools }),
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

function isAccessGiven({ mode, sandboxMerchantsPerDay }: Config): boolean {
  return mode === 'sandbox' && sandboxMerchantsPerDay > 0
}

async function ensureFirstThings(config: Config, core: Core, parts: ServiceParts): Promise<void> {
  await ensureOperator(config, core, parts)
  if (config.mode !== 'sandbox') return
  const { wallets, treasury } = core
  const { clock, random } = parts
  await Promise.all([
    ensureTestWallets({ wallets, treasury, clock, random }),
    ensureDemoMerchant(config, core, parts),
  ])
}

async function ensureOperator(config: Config, core: Core, parts: ServiceParts): Promise<void> {
  const outcome = await ensureFirstOperator({
    operators: core.operators,
    password: config.operatorPassword,
    mode: config.mode,
    clock: parts.clock,
    random: parts.random,
  })
  if (outcome.kind === 'password_missing') throw new ConfigurationFailure([operatorPasswordMissing])
  if (outcome.kind === 'made' && outcome.password !== undefined)
    parts.onFirstOperator?.({ login: outcome.login, password: outcome.password })
}

/** A folder that cannot be written costs the ready-made credentials, and nothing else. */
async function ensureDemoMerchant(config: Config, core: Core, parts: ServiceParts): Promise<void> {
  const { clock, random, log } = parts
  await ensureSandboxMerchant({
    merchants: core.merchants,
    vault: core.vault,
    file: sandboxFile(config.dataDir),
    platformKeys: () => core.platformKeys.published(clock.now()),
    gatewayUrl: parts.publicUrl,
    clock,
    random,
  }).catch((error: unknown) => {
    if (!isFileTrouble(error)) throw error
    log.warn({ reason: error.message }, 'the credentials of the demo merchant could not be written')
  })
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
