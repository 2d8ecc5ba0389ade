// What the public listener serves: documentation, the pages of consumers, the portal, the sandbox, and what machines call.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { readBrand, serveBrand } from '../../adapters/checkout/brand.ts'
import { serveLinks } from '../../adapters/checkout/links/routes.ts'
import { serveCheckout } from '../../adapters/checkout/routes.ts'
import { serveHome } from '../../adapters/docs/home.ts'
import { serveDocs } from '../../adapters/docs/routes.ts'
import { serveAssets } from '../../adapters/kit/assets.ts'
import { serveLogos } from '../../adapters/kit/pages/logos.ts'
import { serveUnsubscribe } from '../../adapters/kit/unsubscribe.ts'
import { serveBills } from '../../adapters/merchant-api/bills.ts'
import { servePlatformKeys } from '../../adapters/merchant-api/platform-keys.ts'
import { serveRails } from '../../adapters/merchant-api/rails.ts'
import { serveSdk } from '../../adapters/merchant-api/sdk/routes.ts'
import { servePortal } from '../../adapters/portal/routes.ts'
import { serveSandboxAccess } from '../../adapters/sandbox/access.ts'
import { serveGallery } from '../../adapters/sandbox/gallery.ts'
import { servePlayground } from '../../adapters/sandbox/playground.ts'
import { serveWallet } from '../../adapters/wallet/routes.ts'
import { isTransient } from '../../platform/database/transient.ts'
import { version } from '../../platform/runtime/version.ts'
import { sandboxFilePath } from '../sandbox/sandbox-file.ts'
import type { Config } from '../settings/config.ts'
import type { ServedParts } from './served-parts.ts'

/** The repository's root, where docs/ is; an installation may lack it. */
const repositoryRoot = join(import.meta.dirname, '../../../../..')
export const hasDocs = existsSync(join(repositoryRoot, 'docs'))

export function servePublic(listener: FastifyInstance, config: Config, parts: ServedParts): void {
  serveAssets(listener)
  serveDocumentation(listener, config, parts)
  serveConsumers(listener, config, parts)
  if (config.mode === 'sandbox') serveSandbox(listener, config, parts)
  if (config.roles.includes('api')) serveMerchants(listener, config, parts)
  serveMachines(listener, parts)
}

function serveDocumentation(
  listener: FastifyInstance,
  config: Config,
  { state, clock, shopUrl }: ServedParts,
): void {
  const { mode, railPort, hasPortal, hasWalletPages } = config
  const publicUrl = () => state.publicUrl
  serveHome(listener, {
    mode,
    version,
    publicUrl,
    shopUrl,
    isAccessGiven: isAccessGiven(config),
    hasDocs,
    hasPortal,
    hasDemoPortal: hasDemoPortal(config),
    demoCredentials: isOnlyHere(config) ? resolve(sandboxFilePath(config.dataDir)) : undefined,
    hasWalletPages,
    readiness: state.readiness,
  })
  const railUrl = () =>
    railPort === undefined ? undefined : `http://${new URL(state.publicUrl).hostname}:${railPort}`
  serveDocs(listener, {
    root: repositoryRoot,
    mode,
    own: () => ({
      publicUrl: state.publicUrl,
      adminUrl: state.adminUrl,
      shopUrl: shopUrl(),
      railUrl: railUrl(),
    }),
    clock,
  })
  serveSdk(listener, publicUrl)
}

function serveConsumers(
  listener: FastifyInstance,
  { mode, operator, hasWalletPages, takesRegistrations }: Config,
  { state, jar, random, clock }: ServedParts,
): void {
  const brand = readBrand(operator)
  const publicUrl = () => state.publicUrl
  const shared = { mode, brand, publicUrl, jar, random, clock, isUnavailable: isTransient }
  serveBrand(listener, brand)
  serveCheckout(listener, { ...shared, hasWalletPages, running: () => state.running().checkout })
  serveLinks(listener, { ...shared, links: () => state.running().links })
  if (hasWalletPages)
    serveWallet(listener, {
      ...shared,
      takesRegistrations,
      running: () => {
        const { operations, cookieSecrets, checkout } = state.running()
        return { operations, secrets: cookieSecrets.wallet, devices: checkout.visits }
      },
    })
}

function serveSandbox(
  listener: FastifyInstance,
  config: Config,
  { state, random, clock }: ServedParts,
): void {
  const newNonce = () => Buffer.from(random(16)).toString('base64')
  if (isAccessGiven(config))
    serveSandboxAccess(listener, {
      access: () => state.running().sandboxAccess,
      publicUrl: () => state.publicUrl,
      hasPortal: config.hasPortal,
      newNonce,
      clock,
    })
  serveGallery(listener, newNonce)
  servePlayground(listener, { newNonce, isAccessGiven: isAccessGiven(config) })
}

/** People of merchants: the portal and the bills that emails link to. */
function serveMerchants(
  listener: FastifyInstance,
  config: Config,
  { state, jar, random, clock, log, downloads, catalog, shopUrl }: ServedParts,
): void {
  const { mode, hasPortal, takesApplications, shopPort } = config
  serveBills(listener, { open: (address) => state.running().openBill(address), downloads })
  if (!hasPortal) return
  servePortal(listener, {
    mode,
    takesApplications,
    jar,
    random,
    clock,
    log,
    downloads,
    isUnavailable: isTransient,
    running: () => {
      const { operations, cookieSecrets, providers } = state.running()
      return { operations, secrets: cookieSecrets.portal, provider: providers.members }
    },
    catalog,
    hasDocs,
    openDemo: hasDemoPortal(config)
      ? () => state.running().operations.openDemoPortal(shopUrl() && `http://127.0.0.1:${shopPort}/callbacks`)
      : undefined,
  })
}

/** Everyone who opens it is an owner, so it is only for the person at this machine. */
function hasDemoPortal(config: Config): boolean {
  return config.hasPortal && isOnlyHere(config)
}

/** A sandbox that only programs on this machine reach. */
function isOnlyHere({ mode, publicListener, publicUrl }: Config): boolean {
  const isHere = publicListener.host === '127.0.0.1' || publicListener.host === 'localhost'
  return mode === 'sandbox' && isHere && publicUrl === undefined
}

/** Rails, mail programs and merchants' servers. The merchant API itself bypasses the router. */
function serveMachines(listener: FastifyInstance, { state }: ServedParts): void {
  serveLogos(listener, (merchantId) => state.running().findLogo(merchantId))
  serveRails(listener, () => state.running().rails)
  serveUnsubscribe(listener, () => state.running().unsubscribe)
  servePlatformKeys(listener, async () => state.running().platformKeys())
}

function isAccessGiven({ mode, sandboxMerchantsPerDay }: Config): boolean {
  return mode === 'sandbox' && sandboxMerchantsPerDay > 0
}
