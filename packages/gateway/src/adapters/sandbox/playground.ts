// The playground: a request is signed and encrypted step by step in the browser and sent, and a callback is decrypted.
// The keys are pasted or handed over by the access page of the same tab and stay in the browser. The gateway never
// sends the demo merchant's keys over the network.
import { gatewayPath, type Method, methods } from '@tillgate/protocol'
import type { FastifyInstance } from 'fastify'
import { assets } from '../kit/assets.ts'
import { type Html, html } from '../kit/html.ts'
import { sendPage } from '../kit/layout.ts'
import { playgroundPath, sandboxAccessPath } from './paths.ts'

export interface PlaygroundParts {
  readonly newNonce: () => string
  readonly isAccessGiven: boolean
}

export function servePlayground(
  listener: FastifyInstance,
  { newNonce, isAccessGiven }: PlaygroundParts,
): void {
  listener.get(playgroundPath, (_request, reply) => {
    const nonce = newNonce()
    return sendPage(reply, {
      title: 'Playground',
      content: playground(isAccessGiven),
      bodyClass: 'playground',
      nonce,
      styles: [assets.sandboxStyle, assets.playgroundStyle],
      head: html`<script type="module" nonce="${nonce}" src="${assets.playgroundScript.path}"></script>`,
    })
  })
}

/** The script replaces what is in double braces. */
const order = {
  order: {
    orderNo: '{{number}}',
    orderAmount: '25.00',
    goods: [{ referenceGoodsId: 'tea', goodsName: 'Green tea', goodsAmount: '12.50', goodsQuantity: 2 }],
  },
  channel: 'WEB',
  paymentAmount: '25.00',
  currency: 'EUR',
  paymentTime: '{{now}}',
  paymentExpiryTime: '{{expiry}}',
  callbackUrl: 'https://shop.example/callbacks',
}
const paymentId = '{{paymentId}}'

const examples: Readonly<Record<Method, object>> = {
  'service.trade.create': order,
  'service.trade.query': { paymentId },
  'service.trade.cancel': { paymentId },
  'service.trade.refund': { paymentId, referRefundNo: '{{number}}', refundAmount: '5.00' },
  'service.trade.callback': { paymentId },
  'service.order.list': { limit: 10 },
  'service.order.capture': { paymentId, referCaptureNo: '{{number}}', amount: '5.00' },
  'service.order.release': { paymentId },
  'service.order.scan': { code: '', orderNo: '{{number}}', amount: '4.20', currency: 'EUR' },
  'service.bill.get': { date: '' },
  'service.link.create': { linkNo: '{{number}}', title: 'Green tea', currency: 'EUR', amount: '5.00' },
  'service.link.query': { linkNo: '' },
  'service.link.close': { linkId: '' },
  'service.sandbox.pay': { paymentId, outcome: 'success' },
  'service.sandbox.advance': { paymentId, milliseconds: 1_800_000 },
  'service.sandbox.listen': { waitMs: 0 },
  'service.sandbox.acknowledge': {
    callbackId: '',
    forwardedTo: 'http://localhost:3000/callbacks',
    durationMs: 12,
  },
  'service.sandbox.requests': {},
}

function playground(isAccessGiven: boolean): Html {
  return html`<main data-gateway="${gatewayPath}">
<h1>Playground</h1>
<p>Watch a request being signed and sealed, send it, and open a callback. All of it happens in this browser: the keys that you paste never leave it.</p>
<noscript><p class="problem">Signing happens in a script, and this browser runs none. The same on a command line: <code>npx till create</code> and <code>npx till debug-signature</code>.</p></noscript>
<p class="problem" id="insecure" hidden>This browser signs only over https or on localhost. Open the gateway by one of these.</p>
<section aria-labelledby="keys-title">
<h2 id="keys-title">Your keys</h2>
<label for="credentials">Credentials: the sandbox’s <code>sandbox-merchant.json</code>, or a <code>.env</code> with <code>TILLGATE_…</code></label>
<textarea id="credentials" rows="4" spellcheck="false" autocomplete="off" placeholder='{"merchantId": "…", "aesKey": "…", "privateKey": "…", "platformPublicKey": "…"}'></textarea>
<p class="quiet">The demo merchant’s are in <code>data/sandbox-merchant.json</code> where the gateway runs.${
    isAccessGiven &&
    html` Or <a href="${sandboxAccessPath}">get keys of your own</a> and come back from there.`
  }</p>
<p id="keys-state" role="status"></p>
<p class="acts"><button type="button" id="forget" hidden>Forget the keys</button></p>
</section>
<section aria-labelledby="request-title">
<h2 id="request-title">A request</h2>
<div class="pair">
<div>
<label for="method">method</label>
<select id="method">
${Object.entries(methods).map(
  ([name, { meaning }]) =>
    html`<option value="${name}" data-example="${JSON.stringify(examples[name as Method], null, 2)}" data-meaning="${meaning}">${name}</option>
`,
)}</select>
<p class="quiet" id="meaning"></p>
<label for="body">1 · The request body</label>
<textarea id="body" rows="20" spellcheck="false" autocomplete="off"></textarea>
<p class="problem" id="body-problem" role="status"></p>
</div>
<div>
<h3 id="string-title">2 · The string to sign</h3>
<p class="quiet">Every field except <code>sign</code>, sorted by name, with the unencrypted body.</p>
<pre id="string" tabindex="0" aria-labelledby="string-title"></pre>
<h3 id="sign-title">3 · The signature</h3>
<p class="quiet">RSASSA-PKCS1-v1_5 with SHA-256 and your private key.</p>
<pre id="sign" tabindex="0" aria-labelledby="sign-title"></pre>
<h3 id="envelope-title">4 · The envelope</h3>
<p class="quiet">The body is encrypted with AES-256-GCM: base64 of nonce, ciphertext and tag.</p>
<pre id="envelope" tabindex="0" aria-labelledby="envelope-title"></pre>
</div>
</div>
<button class="primary" type="button" id="send" disabled>Send the request</button>
<h3 id="answer-title">5 · The response</h3>
<pre id="answer" tabindex="0" aria-labelledby="answer-title" aria-live="polite"></pre>
<p id="after"></p>
</section>
<section aria-labelledby="callback-title">
<h2 id="callback-title">A callback</h2>
<label for="callback">What the gateway posted to you</label>
<textarea id="callback" rows="6" spellcheck="false" autocomplete="off" placeholder='{"id": "…", "merchantId": "…", "eventName": "…", "sign": "…", "timestamp": "…", "body": "…"}'></textarea>
<p class="acts"><button type="button" id="listen" disabled>Load the latest callback</button></p>
<p id="verdict" role="status"></p>
<h3 id="verified-title">The string that was signed</h3>
<pre id="verified" tabindex="0" aria-labelledby="verified-title"></pre>
<h3 id="opened-title">The decrypted body</h3>
<pre id="opened" tabindex="0" aria-labelledby="opened-title"></pre>
</section>
</main>`
}
