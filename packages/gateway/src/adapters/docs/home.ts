// The home page of the public listener: what the gateway is, a request to paste, four entry points, and its health.
import type { FastifyInstance } from 'fastify'
import type { Readiness } from '../../platform/http/health.ts'
import { assets } from '../kit/assets.ts'
import { type Content, type Html, html } from '../kit/html.ts'
import { type IconName, icon } from '../kit/icons.ts'
import { sendPage } from '../kit/layout.ts'
import { wordmark } from '../kit/pages/frame.ts'
import { statusBadge } from '../kit/pages/status.ts'
import { platformKeysPath } from '../merchant-api/platform-keys.ts'
import { installCommand } from '../merchant-api/sdk/paths.ts'
import { demoPath, prefix as portalPath } from '../portal/portal.ts'
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
  readonly hasDemoPortal: boolean
  /** The demo merchant's credentials file, if the reader is at this machine. */
  readonly demoCredentials: string | undefined
  readonly hasWalletPages: boolean
  readonly readiness: () => Promise<Readiness>
}

export function serveHome(listener: FastifyInstance, page: HomePage): void {
  listener.get('/', async (_request, reply) => {
    const readiness = await page.readiness()
    const { mode } = page
    return sendPage(reply, {
      title: `Tillgate ${mode}`,
      bodyClass: 'home',
      styles: [assets.homeStyle],
      content: html`<main>
<div class="heading">${wordmark(statusBadge(mode === 'sandbox' ? 'wait' : 'good', mode, mode === 'sandbox' ? 'flask-conical' : 'shield-check'))}
<span id="health">${readiness.ready ? statusBadge('good', 'Ready') : statusBadge('wait', `Not ready: ${readiness.reason}`)}</span></div>
<div class="hero"><div>
<h1>Take payments on your own server</h1>
<p class="lead">Your platform creates a payment order, the customer pays on a hosted checkout page, and signed callbacks report the result. ${
        mode === 'sandbox' && 'In this sandbox everything works as in live mode, and no real money moves.'
      }</p>
${ways(page)}
</div>
${samplePayment}
</div>
${firstOrder(page)}
<ul class="entries">
${entries(page)}
</ul>
<footer><span>Version ${page.version}</span> <a href="/healthz">Liveness</a> <a href="/readyz">Readiness</a> <a href="${platformKeysPath}">Gateway public keys</a> <span>API: <code>POST ${page.publicUrl()}/api/v1/gateway</code></span></footer>
</main>`,
    })
  })
}

function ways({ shopUrl, hasDocs }: HomePage): Content {
  const shop = shopUrl()
  if (shop === undefined && !hasDocs) return undefined
  return html`<p class="ways">${shop !== undefined && html`<a class="button primary" href="${shop}">Try a payment</a>`}${hasDocs && html`<a class="button" href="/docs/quickstart">Start building</a>`}</p>`
}

function firstOrder({ publicUrl, demoCredentials, isAccessGiven }: HomePage): Html {
  const isSafe = demoCredentials !== undefined && /^[\w./-]+$/.test(demoCredentials)
  const credentials =
    demoCredentials === undefined ? '' : ` --credentials ${isSafe ? demoCredentials : `'${demoCredentials}'`}`
  const where =
    demoCredentials !== undefined
      ? 'Paste this into a terminal, in any folder with Node.js 20.12 or later. The demo merchant creates the order.'
      : isAccessGiven
        ? html`<a href="${sandboxAccessPath}">Get sandbox access</a>, and paste this into a terminal in the folder with your <code>.env</code> file.`
        : html`Paste this into a terminal in the folder with your merchant account’s <code>.env</code> file.`
  return html`<section class="first" aria-labelledby="first"><h2 id="first">Create your first order</h2><p class="quiet">${where}</p>
<pre tabindex="0" aria-labelledby="first">${installCommand(publicUrl())}
npx till create --amount 12.50 --currency EUR${credentials}</pre></section>`
}

/** A drawing of a paid checkout and the callback that follows. */
const samplePayment = html`<div class="sample" aria-hidden="true">
<div class="card"><p class="payee"><span class="mark">${icon('store')}</span>Tea House</p>
<p class="sum">€12.50</p>
<p class="row"><span class="mark">${icon('wallet')}</span>Wallet</p>
<p class="row"><span class="mark">${icon('landmark')}</span>Bank</p>
<p class="pay">${icon('lock')}Pay €12.50</p></div>
<p class="event">${icon('circle-check')}<code>payment.order.success</code></p>
</div>`

function entries(page: HomePage): Content {
  const shopUrl = page.shopUrl()
  const isSandbox = page.mode === 'sandbox'
  return [
    shopUrl !== undefined &&
      entry('shopping-bag', 'Demo shop', 'Buy something with test money and watch the order.', [
        [shopUrl, 'Open the demo shop'],
      ]),
    (page.hasDocs || isSandbox) &&
      entry('code-xml', 'Developers', 'Create your first paid order in five minutes.', [
        page.hasDocs && ['/docs/quickstart', 'Quickstart'],
        page.hasDocs && ['/docs', 'Documentation'],
        isSandbox && [playgroundPath, 'Playground'],
      ]),
    (page.hasPortal || page.isAccessGiven) &&
      entry(
        'store',
        'Merchants',
        'See orders, refunds, callbacks, payouts, and keys.',
        [
          page.hasPortal && [portalPath, page.hasDemoPortal ? 'Sign in to the portal' : 'Open the portal'],
          page.isAccessGiven && [sandboxAccessPath, 'Get sandbox access'],
        ],
        page.hasDemoPortal &&
          html`<form method="post" action="${portalPath}${demoPath}"><button>Open the demo portal</button></form>`,
      ),
    page.hasWalletPages &&
      entry('wallet', 'Consumers', 'Open a wallet, add money, and pay with it.', [
        [walletPath, 'Open the wallet'],
      ]),
  ]
}

function entry(
  sign: IconName,
  heading: string,
  text: string,
  links: readonly (readonly [path: string, label: string] | false)[],
  first?: Html | false,
): Html {
  return html`<li><section class="card">${icon(sign)}<h2>${heading}</h2><p>${text}</p>${first}${links.map((link) => link && html`<a href="${link[0]}">${link[1]}</a>`)}</section></li>
`
}
