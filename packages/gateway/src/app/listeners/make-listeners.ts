// The public and the admin listener with their admission control, before anything is served on them.
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { limitPages } from '../../adapters/kit/page-admission.ts'
import { sendMissingPage } from '../../adapters/kit/pages/missing-page.ts'
import { makeMerchantApi, merchantApiPaths } from '../../adapters/merchant-api/merchant-api.ts'
import { isTransient } from '../../platform/database/transient.ts'
import { refuseOtherNames } from '../../platform/http/admin-names.ts'
import { AdmissionControl } from '../../platform/http/admission/admission-control.ts'
import { makeAnswerLog, type NoteAnswered } from '../../platform/http/answered.ts'
import { bind } from '../../platform/http/bind.ts'
import { makeListener } from '../../platform/http/listener.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { machineTime } from '../../platform/runtime/timer.ts'
import { commit, version } from '../../platform/runtime/version.ts'
import type { GatewayState } from '../gateway-state.ts'
import type { Observability } from '../observability.ts'
import type { Config } from '../settings/config.ts'
import { tracedDirect, traceRequests } from '../traced.ts'
import { hasDocs } from './serve-public.ts'

export interface ListenerParts extends ClockAndRandom {
  readonly log: Log
  readonly state: GatewayState
  readonly observability: Observability
}

export interface Listeners {
  readonly publicListener: FastifyInstance
  readonly adminListener: FastifyInstance
  readonly adminAdmission: AdmissionControl
  /** Those that this gateway binds: without the role api, only the admin listener. */
  readonly bound: readonly FastifyInstance[]
}

export function makeListeners(config: Config, parts: ListenerParts): Listeners {
  const { log, clock, random, state, observability } = parts
  const { metrics, tracer } = observability
  const admissionParts = { ...config, clock, time: machineTime }
  const admission = new AdmissionControl({
    ...admissionParts,
    onShed: (reason) => metrics.shed.of(reason).add(),
  })
  metrics.registry.beforeReading(() => metrics.inFlight.set(admission.inFlight))
  const answerLog = makeAnswerLog({ log, clock, isProxy: (address) => admission.isProxy(address) })
  admission.onShutOut(answerLog.shutOut)
  const answeredAt = (listener: 'public' | 'admin'): NoteAnswered => {
    const count = observability.onAnswered(listener)
    return (answered) => {
      count(answered)
      answerLog.answered(answered)
      state.service?.noteAnswered(answered)
    }
  }
  const shared = {
    log,
    newRequestId: () => Buffer.from(random(12)).toString('base64url'),
    readiness: state.readiness,
    isUnavailable: isTransient,
    trustedProxies: config.trustedProxies,
    limitPages,
    sendMissingPage,
  }
  const sharedPublic = {
    ...shared,
    hsts: config.hsts,
    errorsUrl: () => (hasDocs ? `${state.publicUrl}/docs/errors` : undefined),
    onAnswered: answeredAt('public'),
    admission,
  }
  const merchantApi = makeMerchantApi({
    ...sharedPublic,
    api: () => state.running().api,
    isClosing: () => state.isStopping,
  })
  const publicListener = makeListener({
    ...sharedPublic,
    onConnectionRefused: answerLog.connectionRefused,
    directPaths: merchantApiPaths,
    direct: tracedDirect(merchantApi, tracer),
  })
  const adminAdmission = new AdmissionControl({ ...admissionParts, isPrivate: true })
  const adminListener = makeListener({
    ...shared,
    about: { version, commit },
    onAnswered: answeredAt('admin'),
    admission: adminAdmission,
    adviceForPath: (path) =>
      merchantApiPaths.includes(path)
        ? ` This is the operator’s address: send merchants’ requests to ${state.publicUrl}${path}.`
        : undefined,
  })
  refuseOtherNames(adminListener, [config.adminListener.host, ...config.adminNames])
  const bound = config.roles.includes('api') ? [publicListener, adminListener] : [adminListener]
  if (tracer) for (const listener of bound) traceRequests(listener, tracer)
  return { publicListener, adminListener, adminAdmission, bound }
}

/** The addresses of both listeners on this machine; that of the public one is empty if it is not bound. */
export async function bindListeners(config: Config, { publicListener, adminListener, bound }: Listeners) {
  return {
    localUrl: bound.includes(publicListener)
      ? await bind(publicListener, { ...config.publicListener, hostSetting: 'HOST', portSetting: 'PORT' })
      : '',
    adminUrl: await bind(adminListener, {
      ...config.adminListener,
      hostSetting: 'ADMIN_HOST',
      portSetting: 'ADMIN_PORT',
    }),
  }
}

/** A listener that is not bound yet has port 0. */
export function boundPorts({ bound }: Listeners): readonly number[] {
  return bound.map(({ server }) => (server.address() as AddressInfo | null)?.port ?? 0)
}
