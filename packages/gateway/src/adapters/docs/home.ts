// What a person sees who opens the address of the public listener: that it runs, what it is for, where to go from here.
import type { FastifyInstance } from 'fastify'
import type { Readiness } from '../../platform/http/health.ts'
import { type Html, html } from '../kit/html.ts'
import { sendPage } from '../kit/layout.ts'
import { statusBadge } from '../kit/pages/status.ts'
import { platformKeysPath } from '../merchant-api/platform-keys.ts'
import { installCommand } from '../merchant-api/sdk/paths.ts'
import { prefix as portalPath } from '../portal/portal.ts'
import { playgroundPath, sandboxAccessPath } from '../sandbox/paths.ts'
import { prefix as walletPath } from '../wallet/wallet.ts'

export interface HomePage {
  readonly mode: 'sandbox' | 'live'
  readonly version: string
  readonly publicUrl: () => string
  readonly shopUrl: () => string | undefined
  readonly isAccessGiven: boolean
  readonly hasDocs: boolean
  readonly hasPortal: boolean
  readonly hasWalletPages: boolean
  readonly readiness: () => Promise<Readiness>
}

export function serveHome(listener: FastifyInstance, page: HomePage): void {
  listener.get('/', async (_request, reply) => {
    const readiness = await page.readiness()
    return sendPage(reply, {
      title: `Tillgate ${page.mode}`,
      content: html`<main>
${
  readiness.ready
    ? html`<p>${statusBadge('good', 'Ready')}</p>`
    : html`<p>${statusBadge('wait', `Not ready: ${readiness.reason}`)}</p>`
}
<h1>Tillgate</h1>
<p>${about(page.mode)}</p>
${page.mode === 'sandbox' && firstSteps(page)}
<h2>Where things are</h2>
<dl class="facts">
<div><dt>Merchant API</dt><dd><code>POST ${page.publicUrl()}/api/v1/gateway</code></dd></div>
${
  page.hasDocs &&
  html`<div><dt>Documentation</dt><dd><a href="/docs"><code>/docs</code></a></dd></div>
`
}<div><dt>SDK for Node.js</dt><dd><code>${installCommand(page.publicUrl())}</code></dd></div>
<div><dt>The gateway’s public keys</dt><dd><a href="${platformKeysPath}"><code>${platformKeysPath}</code></a></dd></div>
<div><dt>Alive</dt><dd><a href="/healthz"><code>/healthz</code></a></dd></div>
<div><dt>Ready for traffic</dt><dd><a href="/readyz"><code>/readyz</code></a></dd></div>
<div><dt>Version</dt><dd>${page.version}</dd></div>
</dl>
</main>`,
    })
  })
}

function firstSteps(page: HomePage): Html {
  const shopUrl = page.shopUrl()
  return html`<h2>First steps</h2>
<dl class="facts">
${
  shopUrl !== undefined &&
  html`<div><dt>Buy something with test money</dt><dd><a href="${shopUrl}">the demo shop</a></dd></div>
`
}${
  page.isAccessGiven &&
  html`<div><dt>Take payments yourself</dt><dd><a href="${sandboxAccessPath}">get sandbox access</a></dd></div>
`
}${
  page.hasPortal &&
  html`<div><dt>See orders, refund, follow callbacks as a merchant</dt><dd><a href="${portalPath}">the portal</a></dd></div>
`
}${
  page.hasWalletPages &&
  html`<div><dt>Open a wallet and top it up as a consumer</dt><dd><a href="${walletPath}">the wallet</a></dd></div>
`
}<div><dt>Sign and send a request by hand</dt><dd><a href="${playgroundPath}">the playground</a></dd></div>
${page.hasDocs && html`<div><dt>Five minutes to a paid order</dt><dd><a href="/docs/quickstart">the quickstart</a></dd></div>`}
</dl>`
}

function about(mode: HomePage['mode']): string {
  return mode === 'sandbox'
    ? 'A payment order gateway, in its sandbox: everything works as it does live, and no real money moves.'
    : 'A payment order gateway.'
}
