// The pages of those who are signed in, as the route tables name them, with the things that they are about.
import { catalog } from '../../../src/actions/catalog.ts'
import { consoleRoutes } from '../../../src/adapters/console/routes.ts'
import { prefix as portalPrefix } from '../../../src/adapters/portal/portal.ts'
import { portalRoutes } from '../../../src/adapters/portal/route-table.ts'
import { walletRoutes } from '../../../src/adapters/wallet/routes.ts'
import { prefix as walletPrefix } from '../../../src/adapters/wallet/wallet.ts'
import type { HostileWorld } from './world.ts'

export interface Adapter {
  readonly name: string
  readonly origin: string
  readonly prefix: string
  readonly cookies: ReadonlyMap<string, string>
  readonly routes: readonly { readonly path: string }[]
  readonly things: (path: string) => Readonly<Record<string, string | undefined>>
  /** Pages on which nobody’s text stands. */
  readonly bare: readonly string[]
}

export function adaptersOf(world: HostileWorld): readonly Adapter[] {
  const { gateway, things, special } = world
  const { paymentId } = special.paid
  const [linkId] = world.linkIds
  return [
    {
      name: 'the wallet',
      origin: gateway.url,
      prefix: walletPrefix,
      cookies: world.consumer.cookies,
      routes: walletRoutes,
      things: () => ({ ...things, credentialId: things['walletPasskey'] }),
      bare: [],
    },
    {
      name: 'the portal',
      origin: gateway.url,
      prefix: portalPrefix,
      cookies: world.member.cookies,
      routes: portalRoutes(catalog),
      things: (path) => ({
        ...things,
        paymentId,
        credentialId: things['memberPasskey'],
        linkId: path.startsWith('/members') ? things['invitationId'] : linkId,
      }),
      bare: [],
    },
    {
      name: 'the console',
      origin: gateway.adminUrl,
      prefix: '',
      cookies: world.admin.cookies,
      routes: consoleRoutes(catalog),
      things: () => ({ ...things, paymentId, linkId, credentialId: things['operatorPasskey'] }),
      bare: [
        '/find',
        '/reconciliation/selected',
        '/reconciliation/days',
        '/ledger',
        '/applications',
        '/system',
        '/emails',
        '/account',
        '/account/second-step',
        '/account/tokens',
      ],
    },
  ]
}

/** Only a live gateway takes applications: a test of its own looks at them. */
const applicationPath = '/applications/:applicationId'
export const pathsOf = ({ routes }: Adapter, kind: 'show' | 'download') =>
  routes.flatMap((route) => (kind in route && route.path !== applicationPath ? [route.path] : []))
export const addressOf = ({ origin, prefix, things: of }: Adapter, path: string) =>
  origin + prefix + path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(of(path)[name] ?? name))
