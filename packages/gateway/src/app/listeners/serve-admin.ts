// What the admin listener serves: metrics and, with the role api, the console and the admin API.
import type { FastifyInstance } from 'fastify'
import { routesOf } from '../../adapters/admin-api/api.ts'
import { serveAdminApi } from '../../adapters/admin-api/serve.ts'
import { serveConsole } from '../../adapters/console/routes.ts'
import { serveAssets } from '../../adapters/kit/assets.ts'
import { isTransient } from '../../platform/database/transient.ts'
import type { AdmissionControl } from '../../platform/http/admission/admission-control.ts'
import { serveMetrics } from '../../platform/http/metrics.ts'
import type { Observability } from '../observability.ts'
import type { Config } from '../settings/config.ts'
import type { ServedParts } from './served-parts.ts'

export interface AdminParts extends ServedParts {
  readonly admission: AdmissionControl
  readonly read: Observability['read']
}

export function serveAdmin(listener: FastifyInstance, config: Config, parts: AdminParts): void {
  const { mode, secondStepRoles, takesApplications } = config
  const { state, clock, random, log, downloads, catalog, admission } = parts
  serveAssets(listener)
  serveMetrics(listener, {
    read: parts.read,
    token: config.metricsToken,
    isTokenNeeded: mode === 'live',
  })
  if (!config.roles.includes('api')) return
  serveConsole(listener, {
    mode,
    random,
    clock,
    log,
    downloads,
    isUnavailable: isTransient,
    secondStepRoles,
    takesApplications,
    running: () => {
      const { operations, cookieSecrets, providers } = state.running()
      return { operations, secrets: cookieSecrets.console, provider: providers.operators }
    },
    catalog,
  })
  serveAdminApi(listener, {
    mode,
    clock,
    admission,
    downloads,
    secondStepRoles,
    running: () => ({ operations: state.running().operations }),
    routes: routesOf(catalog),
  })
}
