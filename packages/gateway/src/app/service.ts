// What serves requests once the database is open: operations over the stores, the services of checkout and console, and
// background work. Loaded while the database starts.
import type { RandomBytes } from '@tillgate/protocol'
import type { RunningCheckout } from '../adapters/checkout/routes.ts'
import type { CookieSecrets } from '../adapters/kit/accounts/cookies.ts'
import type { CookieJar } from '../adapters/kit/cookies.ts'
import type { MerchantApi } from '../adapters/merchant-api/merchant-api.ts'
import type { RunningRails } from '../adapters/merchant-api/rails.ts'
import { type Publish, unpublished } from '../core/changes/rules/change.ts'
import type { Unsubscribe } from '../core/emails/unsubscribe.ts'
import type { PublishedKey } from '../core/keys/platform-keys.ts'
import { makeOpenRequest } from '../core/merchants/open-request.ts'
import type { MerchantStore } from '../core/merchants/store/merchants.ts'
import type { AskBill } from '../finance/bills/ask-bill.ts'
import type { OpenLink } from '../finance/links/open-link.ts'
import type { Figures } from '../finance/overview/store/figures.ts'
import { makeReadInThread } from '../finance/reconciliation/read-file-in-thread.ts'
import { recentSignInMs } from '../identity/accounts/sessions.ts'
import type { OpenDatabase } from '../platform/database/open-database.ts'
import type { Readiness } from '../platform/http/health.ts'
import { makeSystemLookup } from '../platform/outbound/lookup.ts'
import { makeOpenIdClient } from '../platform/outbound/openid.ts'
import { openMailSession } from '../platform/outbound/smtp.ts'
import type { RequestLog } from '../platform/request-log/request-log.ts'
import type { OpenIdClient } from '../platform/runtime/outside/openid.ts'
import { makeSealing } from '../platform/runtime/secrets/sealing.ts'
import { makeTokens } from '../platform/runtime/secrets/tokens.ts'
import type { Vault } from '../platform/runtime/secrets/vault.ts'
import type { OwnListeners } from '../platform/runtime/ssrf-guard.ts'
import type { SandboxAccess } from '../sandbox/sandbox-access.ts'
import { type OpenStores, type StoresOptions, storesOver } from './database/open-stores.ts'
import { completeFirstStart, type FirstStartParts } from './first-start.ts'
import type { Observability } from './observability.ts'
import { makeOperations, type Operations } from './operations.ts'
import { startCheckout } from './running-checkout.ts'
import type { Config } from './settings/config.ts'
import { tracedApi } from './traced.ts'
import { openOutboundClient, openOutboundOnUse, openRailOutbound, startWork } from './work.ts'

/** What serves requests; available once the database is open. */
export interface Service {
  readonly api: MerchantApi
  readonly checkout: RunningCheckout
  readonly links: OpenLink
  readonly openBill: AskBill['open']
  readonly operations: Operations
  readonly cookieSecrets: Readonly<Record<'console' | 'portal' | 'wallet', CookieSecrets>>
  /** Where operators and members sign in, if not only here. */
  readonly providers: Readonly<Record<'operators' | 'members', OpenIdClient | undefined>>
  readonly findLogo: MerchantStore['findLogo']
  readonly platformKeys: () => Promise<readonly PublishedKey[]>
  readonly readiness: () => Promise<Readiness>
  readonly figures: (nowMs: number) => Promise<Figures>
  readonly sandboxAccess: SandboxAccess
  readonly rails: RunningRails
  readonly unsubscribe: Unsubscribe
  readonly noteAnswered: RequestLog['note']
  /** Answers waiting requests, so that the listeners can close. */
  endWaits(): void
  stop(): Promise<void>
}

export interface ServiceParts extends FirstStartParts, Pick<StoresOptions, 'hashCost'> {
  /** The caller closes it if this fails. */
  readonly opening: Promise<OpenDatabase>
  readonly jar: CookieJar
  readonly ownListeners: OwnListeners
  readonly observability: Observability
}

/** A sign-in at a provider counts as confirmation for as long as a recent sign-in does. */
const maxAgeSeconds = recentSignInMs / 1000

export async function startService(config: Config, parts: ServiceParts): Promise<Service> {
  const { clock, log, random, publicUrl, ownListeners, observability } = parts
  const { metrics, tools } = observability
  const outbound = openOutboundClient(config, ownListeners)
  const railOutbound = openRailOutbound(config, ownListeners)
  const testOutbound = outbound ?? openOutboundOnUse(config, ownListeners)
  // Changes committed before the jobs start are found by their first run.
  let reactTo: Publish = unpublished
  const publish: Publish = (changes) => reactTo(changes)
  const database = await parts.opening
  const opened = await database.insist(async () => {
    const begun = await storesOver(database, {
      config,
      clock,
      random,
      ...(parts.hashCost && { hashCost: parts.hashCost }),
      ...observability.storeParts,
      publish,
    })
    // A process that serves people completes the first start.
    if (config.roles.includes('api')) await completeFirstStart(config, begun, parts)
    await begun.stores.events.setKept(config.eventFeedDays > 0)
    return begun
  })
  const { vault } = opened
  metrics.poolMax.set(config.databasePoolMax)
  measurePool(metrics, opened)
  const { stores } = opened
  const { mail } = config
  const operations = makeOperations(stores, {
    config,
    publicUrl,
    vault,
    clock,
    random,
    ownListeners,
    railPost: railOutbound.post,
    callbackPost: testOutbound.post,
    lookup: makeSystemLookup(),
    openMail: mail && (() => openMailSession(mail)),
    sealingTools: tools,
    statementFiles: makeReadInThread(),
    publish,
    log,
  })
  const checkout = startCheckout({
    stores,
    operations,
    vault,
    jar: parts.jar,
    defaultLimits: config.walletLimits,
    clock,
    random,
    log,
  })
  const work = startWork(config, {
    opened,
    stores,
    operations,
    outbound,
    live: checkout.live,
    observability,
    clock,
    random,
    log,
  })
  reactTo = work.publish
  return {
    api: tracedApi(merchantApi(config, operations, parts), observability.tracer),
    checkout,
    findLogo: stores.merchants.findLogo,
    links: operations.openLink,
    openBill: operations.bills.open,
    operations,
    cookieSecrets: {
      console: cookieSecretsOf('console', vault, random),
      portal: cookieSecretsOf('portal', vault, random),
      wallet: cookieSecretsOf('wallet', vault, random),
    },
    providers: { operators: openIdOf(config.openId), members: openIdOf(config.memberOpenId) },
    platformKeys: () => operations.signingKeys.published(clock.now()),
    readiness: () => readinessOf(opened),
    figures: stores.figures,
    sandboxAccess: operations.sandboxAccess,
    rails: operations,
    unsubscribe: operations.unsubscribe,
    noteAnswered: operations.requestLog.note,
    endWaits() {
      operations.sandboxListen.stop()
      operations.readEvents.stop()
    },
    async stop() {
      await checkout.stop()
      await work.stop()
      await railOutbound.close()
      if (testOutbound !== outbound) await testOutbound.close()
      await operations.requestLog.write().catch(() => {})
      await operations.recordKeyUse.idle()
      await opened.close()
    },
  }
}

function measurePool(
  { registry, poolConnections, poolWaiting }: Observability['metrics'],
  { poolCounts }: OpenStores,
): void {
  registry.beforeReading(() => {
    const { total, idle, waiting } = poolCounts()
    poolConnections.of('busy').set(total - idle)
    poolConnections.of('idle').set(idle)
    poolWaiting.set(waiting)
  })
}

function cookieSecretsOf(adapter: string, vault: Vault, random: RandomBytes): CookieSecrets {
  return {
    sealing: makeSealing(vault.deriveKeys(`${adapter} notes`), random),
    tokens: makeTokens(vault.deriveKeys(`${adapter} forms`)),
  }
}

function openIdOf(settings: Config['openId'] | Config['memberOpenId']): OpenIdClient | undefined {
  return settings && makeOpenIdClient({ ...settings, maxAgeSeconds })
}

function merchantApi(
  { mode }: Config,
  operations: Operations,
  { clock, observability: { tools, toolsHere } }: ServiceParts,
): MerchantApi {
  const { sandboxListen: listening } = operations
  return {
    openRequest: makeOpenRequest({
      directory: operations.directory,
      noteKeyUse: operations.recordKeyUse.note,
      clock,
      toolsFor: ({ isQuiet }) => (isQuiet ? toolsHere : tools),
    }),
    operations: {
      'service.trade.create': operations.createOrder,
      'service.trade.query': operations.queryOrder,
      'service.trade.cancel': operations.cancelOrder,
      'service.trade.callback': operations.resendCallbacks,
      'service.trade.refund': operations.refundOrder,
      'service.order.list': operations.listOrders,
      'service.order.capture': operations.captureOrder,
      'service.order.scan': operations.scanOrder,
      'service.order.release': operations.releaseOrder,
      'service.bill.get': operations.bills.ask,
      'service.link.create': operations.createLink,
      'service.link.query': operations.queryLink,
      'service.link.close': operations.closeLink,
      ...(mode === 'sandbox' && {
        'service.sandbox.pay': operations.sandboxPay,
        'service.sandbox.requests': operations.sandboxRequests,
        'service.sandbox.listen': listening.listen,
        'service.sandbox.acknowledge': listening.acknowledge,
        'service.sandbox.advance': operations.sandboxAdvance,
      }),
    },
  }
}

async function readinessOf({ writability }: OpenStores): Promise<Readiness> {
  const { kind } = await writability()
  switch (kind) {
    case 'writable':
      return { ready: true }
    case 'schema_missing':
      return { ready: false, reason: 'the database lacks the tables of this version' }
    case 'not_writable':
      return { ready: false, reason: 'the database does not accept writes' }
  }
}
