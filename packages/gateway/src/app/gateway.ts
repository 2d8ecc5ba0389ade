// Starts the parts of a gateway in order and stops them in reverse. Tests start gateways with it too.
import type { Action } from '../actions/action.ts'
import { catalog as everyAction } from '../actions/catalog.ts'
import { type CookieJar, makeCookieJar } from '../adapters/kit/cookies.ts'
import { makeDownloads } from '../adapters/kit/downloads.ts'
import type { EarlyEmbedded } from '../platform/database/embedded/early-embedded.ts'
import type { DatabaseEvent } from '../platform/database/open-database.ts'
import { drainBeforeClosing } from '../platform/http/drain.ts'
import type { Snapshot } from '../platform/observability/metrics/registry.ts'
import type { ClockAndRandom } from '../platform/runtime/clock.ts'
import { loadPart } from '../platform/runtime/node-workarounds/compiled-code.ts'
import { makeRandom } from '../platform/runtime/node-workarounds/random.ts'
import { machineTime } from '../platform/runtime/timer.ts'
import { DatabaseOutage } from './database/database-outage.ts'
import { openGatewayDatabase } from './database/open-gateway-database.ts'
import type { StoresOptions } from './database/open-stores.ts'
import type { FirstStartParts } from './first-start.ts'
import { GatewayState } from './gateway-state.ts'
import { bindListeners, boundPorts, type Listeners, makeListeners } from './listeners/make-listeners.ts'
import { serveAdmin } from './listeners/serve-admin.ts'
import { servePublic } from './listeners/serve-public.ts'
import { makeObservability, type Observability } from './observability.ts'
import { ownListenersOf } from './own-listeners.ts'
import type { Service } from './service.ts'
import type { Config } from './settings/config.ts'

/** Without the role api, nothing shows an address. */
const unservedUrl = 'http://localhost'

export interface GatewayParts
  extends Pick<FirstStartParts, 'log' | 'clock' | 'onFirstOperator'>,
    Pick<StoresOptions, 'hashCost'> {
  readonly report: (event: DatabaseEvent) => void
  /** Cancels a start in progress. */
  readonly signal: AbortSignal
  /** The embedded server, if it is already being started. */
  readonly early?: EarlyEmbedded | undefined
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

/** What a gateway has before its database is open. */
interface Opened extends ClockAndRandom {
  readonly state: GatewayState
  readonly jar: CookieJar
  readonly outage: DatabaseOutage
  readonly observability: Observability
  readonly listeners: Listeners
}

export async function startGateway(config: Config, parts: GatewayParts): Promise<Gateway> {
  const opened = openListeners(config, parts)
  try {
    const localUrl = parts.joins
      ? await join(config, parts, opened, parts.joins)
      : await startAlone(config, parts, opened)
    const { publicUrl, adminUrl } = opened.state
    return { publicUrl, localUrl, adminUrl, stop: (options) => stop(opened, options) }
  } catch (error) {
    await stop(opened)
    throw error
  }
}

/** The ports are bound first, so that a second gateway started by mistake fails before anything else happens. */
async function startAlone(config: Config, parts: GatewayParts, opened: Opened): Promise<string> {
  const { state } = opened
  const localUrl = await bindAll(config, opened)
  state.publicUrl = config.roles.includes('api') ? state.publicUrl || localUrl : ''
  state.service = await openService(config, parts, opened)
  return localUrl
}

async function join(
  config: Config,
  parts: GatewayParts,
  opened: Opened,
  { publicUrl }: { publicUrl: string },
): Promise<string> {
  opened.state.publicUrl = publicUrl
  opened.state.service = await openService(config, parts, opened)
  return bindAll(config, opened)
}

/** Creates the listeners with all routes; they are bound later. */
function openListeners(config: Config, parts: GatewayParts): Opened {
  const { log, clock, shopUrl = () => undefined, catalog = everyAction } = parts
  const random = makeRandom()
  const state = new GatewayState(config.publicUrl)
  const outage = new DatabaseOutage({ log, nowMs: machineTime.nowMs })
  const observability = makeObservability(config, {
    clock,
    random,
    outage,
    figures: () => state.service?.figures,
    share: parts.shareMetrics ?? ((own) => async () => own()),
  })
  const jar = makeCookieJar({ isSecure: config.mode === 'live' })
  const listeners = makeListeners(config, { log, clock, random, state, observability })
  const served = { state, log, clock, random, jar, downloads: makeDownloads(clock), catalog, shopUrl }
  servePublic(listeners.publicListener, config, served)
  serveAdmin(listeners.adminListener, config, {
    ...served,
    admission: listeners.adminAdmission,
    read: observability.read,
  })
  for (const listener of listeners.bound)
    drainBeforeClosing(listener, { clock, isPatient: () => state.isPatient })
  return { state, clock, random, jar, outage, observability, listeners }
}

async function bindAll(config: Config, { state, listeners }: Opened): Promise<string> {
  const { localUrl, adminUrl } = await bindListeners(config, listeners)
  state.adminUrl = adminUrl
  return localUrl
}

/** The database takes time to start, and the modules that use it are a third of all code, so both load in parallel. */
async function openService(config: Config, parts: GatewayParts, opened: Opened): Promise<Service> {
  const { state, listeners, random, jar, observability } = opened
  const givingUp = new AbortController()
  const opening = openGatewayDatabase({
    config,
    early: parts.early,
    report: (event) => {
      noteOutage(opened, event)
      parts.report(event)
    },
    signal: AbortSignal.any([parts.signal, givingUp.signal]),
  })
  try {
    opening.catch(() => {})
    const { startService } = await loadPart(() => import('./service.ts'))
    return await startService(config, {
      ...parts,
      opening,
      publicUrl: state.publicUrl || unservedUrl,
      random,
      jar,
      observability,
      ownListeners: ownListenersOf(config, () => boundPorts(listeners)),
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

/** The private PostgreSQL ended or is back. An idle gateway would not notice otherwise. */
function noteOutage({ outage }: Opened, { kind }: DatabaseEvent): void {
  if (kind === 'lost') outage.away('PostgreSQL has ended; restarting it')
  if (kind === 'recovered') outage.back()
}

async function stop(
  { state, listeners, observability }: Opened,
  { isPatient } = { isPatient: false },
): Promise<void> {
  state.isStopping = true
  state.isPatient = isPatient
  state.service?.endWaits()
  await Promise.all(listeners.bound.map((listener) => listener.close()))
  await state.service?.stop()
  await observability.stop()
}
