// The composition root: builds the listeners, starts the parts in order and stops them in reverse. Only this file
// chooses the concrete part behind each interface. Tests start gateways with it too.
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Failure } from '@tillgate/protocol'
import type { FastifyInstance } from 'fastify'
import type { Action } from '../actions/action.ts'
import { catalog as everyAction } from '../actions/catalog.ts'
import { routesOf } from '../adapters/admin-api/api.ts'
import { serveAdminApi } from '../adapters/admin-api/serve.ts'
import { readBrand, serveBrand } from '../adapters/checkout/brand.ts'
import { serveLinks } from '../adapters/checkout/links/routes.ts'
import { serveCheckout } from '../adapters/checkout/routes.ts'
import { serveConsole } from '../adapters/console/routes.ts'
import { serveHome } from '../adapters/docs/home.ts'
import { serveDocs } from '../adapters/docs/routes.ts'
import { serveAssets } from '../adapters/kit/assets.ts'
import { makeCookieJar } from '../adapters/kit/cookies.ts'
import { makeDownloads } from '../adapters/kit/downloads.ts'
import { limitPages } from '../adapters/kit/page-admission.ts'
import { serveLogos } from '../adapters/kit/pages/logos.ts'
import { sendMissingPage } from '../adapters/kit/pages/missing-page.ts'
import { serveUnsubscribe } from '../adapters/kit/unsubscribe.ts'
import { serveBills } from '../adapters/merchant-api/bills.ts'
import { makeMerchantApi, merchantApiPaths } from '../adapters/merchant-api/merchant-api.ts'
import { servePlatformKeys } from '../adapters/merchant-api/platform-keys.ts'
import { serveRails } from '../adapters/merchant-api/rails.ts'
import { serveSdk } from '../adapters/merchant-api/sdk/routes.ts'
import { servePortal } from '../adapters/portal/routes.ts'
import { serveSandboxAccess } from '../adapters/sandbox/access.ts'
import { serveGallery } from '../adapters/sandbox/gallery.ts'
import { servePlayground } from '../adapters/sandbox/playground.ts'
import { serveWallet } from '../adapters/wallet/routes.ts'
import type { DatabaseEvent } from '../platform/database/open-database.ts'
import { isTransient } from '../platform/database/transient.ts'
import { refuseOtherNames } from '../platform/http/admin-names.ts'
import { AdmissionControl } from '../platform/http/admission/admission-control.ts'
import { makeAnswerLog, type NoteAnswered } from '../platform/http/answered.ts'
import { bind } from '../platform/http/bind.ts'
import { drainBeforeClosing } from '../platform/http/drain.ts'
import { askedSeldom, type Readiness } from '../platform/http/health.ts'
import { makeListener } from '../platform/http/listener.ts'
import { serveMetrics } from '../platform/http/metrics.ts'
import type { Snapshot } from '../platform/observability/metrics/registry.ts'
import { loadPart } from '../platform/runtime/node-workarounds/compiled-code.ts'
import { makeRandom } from '../platform/runtime/node-workarounds/random.ts'
import { machineTime } from '../platform/runtime/timer.ts'
import { commit, version } from '../platform/runtime/version.ts'
import { DatabaseOutage } from './database/database-outage.ts'
import { openGatewayDatabase } from './database/open-gateway-database.ts'
import type { StoresOptions } from './database/open-stores.ts'
import type { FirstStartParts } from './first-start.ts'
import { makeObservability } from './observability.ts'
import { ownListenersOf } from './own-listeners.ts'
import type { Service } from './service.ts'
import type { Config } from './settings/config.ts'
import { tracedDirect, traceRequests } from './traced.ts'

/** The repository's root, where docs/ is; an installation may lack it. */
const repositoryRoot = join(import.meta.dirname, '../../../..')

/** Without the role api, nothing shows an address. */
const unservedUrl = 'http://localhost'

export interface GatewayParts
  extends Pick<FirstStartParts, 'log' | 'clock' | 'onFirstOperator'>,
    Pick<StoresOptions, 'hashCost'> {
  readonly tell: (event: DatabaseEvent) => void
  /** Cancels a start in progress. */
  readonly signal: AbortSignal
  /** The address of the demo shop, once it is open. */
  readonly shopUrl?: () => string | undefined
  /**
   * Set if other processes already serve these ports under this public address; this one joins when it is ready.
   * Otherwise it binds the ports first and answers 50300 until it is ready.
   */
  readonly joins?: { readonly publicUrl: string }
  /** Combines this process's metrics with those of the gateway's other processes. Undefined for a single process. */
  readonly shareMetrics?: (own: () => Snapshot) => () => Promise<Snapshot>
  /** The actions that operators may run; all of them by default. */
  readonly catalog?: readonly Action[]
}

export interface Gateway {
  /** Empty without the role api. */
  readonly publicUrl: string
  /** The public listener's address on this machine, independent of its public address. */
  readonly localUrl: string
  readonly adminUrl: string
  /**
   * Finishes requests in progress, then stops everything. A patient stop waits a moment for open connections to be
   * reused, so that no request meets a closed one.
   */
  stop(options?: { isPatient: boolean }): Promise<void>
}

export async function startGateway(config: Config, parts: GatewayParts): Promise<Gateway> {
  let service: Service | undefined
  let stopping = false
  let isPatient = false
  const isApi = config.roles.includes('api')

  const askService = askedSeldom(async () => running().readiness())
  const readiness = async (): Promise<Readiness> => {
    if (stopping) return { ready: false, reason: 'the gateway is stopping' }
    if (!service) return { ready: false, reason: 'the gateway is starting' }
    return askService()
  }
  const random = makeRandom()
  const outage = new DatabaseOutage({ log: parts.log, nowMs: machineTime.nowMs })
  const observability = makeObservability(config, {
    clock: parts.clock,
    random,
    outage,
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
    limitPages,
    sendMissingPage,
  }
  const running = (): Service => {
    if (!service) throw new Failure('unavailable', { retryAfterSeconds: 1 })
    return service
  }
  const admissionParts = { ...config, clock: parts.clock, time: machineTime }
  const admission = new AdmissionControl({
    ...admissionParts,
    onShed: (reason) => metrics.shed.of(reason).add(),
  })
  metrics.registry.beforeReading(() => metrics.inFlight.set(admission.inFlight))
  const answerLog = makeAnswerLog({
    log: parts.log,
    clock: parts.clock,
    isProxy: (address) => admission.isProxy(address),
  })
  admission.onShutOut(answerLog.shutOut)
  const answeredAt = (listener: 'public' | 'admin'): NoteAnswered => {
    const count = observability.onAnswered(listener)
    return (answered) => {
      count(answered)
      answerLog.answered(answered)
      service?.noteAnswered(answered)
    }
  }
  const onPublicAnswered = answeredAt('public')
  const { hsts } = config
  let publicUrl = config.publicUrl ?? ''
  const hasDocs = existsSync(join(repositoryRoot, 'docs'))
  const errorsUrl = () => (hasDocs ? `${publicUrl}/docs/errors` : undefined)
  const publicListener = makeListener({
    ...listenerParts,
    errorsUrl,
    hsts,
    onAnswered: onPublicAnswered,
    onConnectionRefused: answerLog.connectionRefused,
    admission,
    directPaths: merchantApiPaths,
    direct: tracedDirect(
      makeMerchantApi({
        ...listenerParts,
        errorsUrl,
        hsts,
        api: () => running().api,
        admission,
        isClosing: () => stopping,
        onAnswered: onPublicAnswered,
      }),
      tracer,
    ),
  })
  const adminAdmission = new AdmissionControl({ ...admissionParts, isPrivate: true })
  const adminListener = makeListener({
    ...listenerParts,
    about: { version, commit },
    onAnswered: answeredAt('admin'),
    admission: adminAdmission,
  })
  refuseOtherNames(adminListener, [config.adminListener.host, ...config.adminNames])
  const listeners = isApi ? [publicListener, adminListener] : [adminListener]

  if (tracer) for (const listener of listeners) traceRequests(listener, tracer)

  let adminUrl = ''
  for (const listener of listeners) serveAssets(listener)
  serveHome(publicListener, {
    mode: config.mode,
    version,
    publicUrl: () => publicUrl,
    shopUrl: parts.shopUrl ?? (() => undefined),
    isAccessGiven: isAccessGiven(config),
    hasDocs,
    hasPortal: config.hasPortal,
    hasWalletPages: config.hasWalletPages,
    readiness,
  })
  const railUrl = () =>
    config.railPort === undefined ? undefined : `http://${new URL(publicUrl).hostname}:${config.railPort}`
  serveDocs(publicListener, {
    root: repositoryRoot,
    mode: config.mode,
    own: () => ({ publicUrl, adminUrl, shopUrl: parts.shopUrl?.(), railUrl: railUrl() }),
    clock: parts.clock,
  })
  serveSdk(publicListener, () => publicUrl)
  const newNonce = () => Buffer.from(random(16)).toString('base64')
  const jar = makeCookieJar({ isSecure: config.mode === 'live' })
  const brand = readBrand(config.operator)
  serveBrand(publicListener, brand)
  const consumersPages = {
    mode: config.mode,
    brand,
    publicUrl: () => publicUrl,
    jar,
    random,
    clock: parts.clock,
    isUnavailable: isTransient,
  }
  serveCheckout(publicListener, {
    ...consumersPages,
    hasWalletPages: config.hasWalletPages,
    running: () => running().checkout,
  })
  serveLinks(publicListener, { ...consumersPages, links: () => running().links })
  if (config.hasWalletPages)
    serveWallet(publicListener, {
      ...consumersPages,
      takesRegistrations: config.takesRegistrations,
      running: () => {
        const { operations, cookieSecrets, checkout } = running()
        return { operations, secrets: cookieSecrets.wallet, devices: checkout.visits }
      },
    })
  if (isAccessGiven(config)) {
    serveSandboxAccess(publicListener, {
      access: () => running().sandboxAccess,
      publicUrl: () => publicUrl,
      hasPortal: config.hasPortal,
      newNonce,
      clock: parts.clock,
    })
  }
  if (config.mode === 'sandbox') {
    serveGallery(publicListener, newNonce)
    servePlayground(publicListener, { newNonce, isAccessGiven: isAccessGiven(config) })
  }
  serveLogos(publicListener, (merchantId) => running().findLogo(merchantId))
  if (isApi) {
    const downloads = makeDownloads(parts.clock)
    const { catalog = everyAction } = parts
    serveBills(publicListener, { open: (address) => running().openBill(address), downloads })
    if (config.hasPortal)
      servePortal(publicListener, {
        mode: config.mode,
        takesApplications: config.takesApplications,
        jar,
        random,
        clock: parts.clock,
        log: parts.log,
        downloads,
        isUnavailable: isTransient,
        running: () => {
          const { operations, cookieSecrets, providers } = running()
          return { operations, secrets: cookieSecrets.portal, provider: providers.members }
        },
        catalog,
      })
    serveConsole(adminListener, {
      mode: config.mode,
      random,
      clock: parts.clock,
      log: parts.log,
      downloads,
      isUnavailable: isTransient,
      secondStepRoles: config.secondStepRoles,
      takesApplications: config.takesApplications,
      running: () => {
        const { operations, cookieSecrets, providers } = running()
        return { operations, secrets: cookieSecrets.console, provider: providers.operators }
      },
      catalog,
    })
    serveAdminApi(adminListener, {
      mode: config.mode,
      clock: parts.clock,
      admission: adminAdmission,
      downloads,
      secondStepRoles: config.secondStepRoles,
      running: () => ({ operations: running().operations }),
      routes: routesOf(catalog),
    })
  }
  serveRails(publicListener, () => running().rails)
  serveUnsubscribe(publicListener, () => running().unsubscribe)
  servePlatformKeys(publicListener, async () => running().platformKeys())
  serveMetrics(adminListener, {
    read: observability.read,
    token: config.metricsToken,
    isTokenNeeded: config.mode === 'live',
  })

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
  const ownListeners = ownListenersOf(config, () =>
    listeners.map((listener) => (listener.server.address() as AddressInfo | null)?.port ?? 0),
  )
  const startServing = async (address: string): Promise<Service> => {
    const givingUp = new AbortController()
    // The database takes time to start, and the modules that use it are a third of all code, so both load in parallel.
    const opening = openGatewayDatabase({
      config,
      tell(event) {
        // The private PostgreSQL ended. An idle gateway would not notice otherwise.
        if (event.kind === 'lost') outage.away('PostgreSQL has ended; restarting it')
        if (event.kind === 'recovered') outage.back()
        parts.tell(event)
      },
      signal: AbortSignal.any([parts.signal, givingUp.signal]),
    })
    try {
      opening.catch(() => {})
      const { startService } = await loadPart(() => import('./service.ts'))
      return await startService(config, {
        ...parts,
        opening,
        publicUrl: address,
        random,
        jar,
        observability,
        ownListeners,
      })
    } catch (error) {
      givingUp.abort()
      await opening.then(
        ({ close }) => close(),
        () => {},
      )
      throw error
    }
  }

  try {
    const { joins } = parts
    if (joins) {
      publicUrl = joins.publicUrl
      service = await startServing(publicUrl || unservedUrl)
      const { localUrl, ...bound } = await bindAll()
      adminUrl = bound.adminUrl
      return { publicUrl, localUrl, adminUrl, stop }
    }
    // The ports are bound first, so that a second gateway started by mistake fails before anything else happens.
    const { localUrl, ...bound } = await bindAll()
    adminUrl = bound.adminUrl
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

function isAccessGiven({ mode, sandboxMerchantsPerDay }: Config): boolean {
  return mode === 'sandbox' && sandboxMerchantsPerDay > 0
}
