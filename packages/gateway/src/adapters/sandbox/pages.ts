// The pages of sandbox access: the form, the granted access, and the errors.

import { merchantEnv } from '../../core/merchants/rules/merchant-env.ts'
import type { Access, AccessProblem, AccessRequest } from '../../sandbox/sandbox-access.ts'
import { maxNameLength } from '../../sandbox/sandbox-access.ts'
import { type Html, html } from '../kit/html.ts'
import { statusBadge } from '../kit/pages/status.ts'
import { installCommand } from '../merchant-api/sdk/paths.ts'
import { playgroundPath, sandboxAccessPath } from './paths.ts'

export function accessForm(
  asked: AccessRequest,
  { hasPortal, problem }: { readonly hasPortal: boolean; readonly problem?: AccessProblem },
): Html {
  const problemAt = (field: AccessProblem['field']): Html | undefined =>
    problem?.field === field ? html`<p class="problem" id="${field}-problem">${problem.words}</p>` : undefined
  const marks = (field: AccessProblem['field']): Html | undefined =>
    problem?.field === field
      ? html` aria-invalid="true" aria-describedby="${field}-problem" autofocus`
      : undefined
  return html`<main>
<h1>Get sandbox access</h1>
<p>You get a merchantId and keys of your own, and can take test payments a minute from now. No real money moves here.</p>
<form method="post" action="${sandboxAccessPath}" id="access">
<label for="name">Name of your shop</label>
<input id="name" name="name" type="text" required maxlength="${maxNameLength}" autocomplete="organization" value="${asked.name}"${marks('name')}>
${problemAt('name')}
${
  hasPortal &&
  html`<label for="email">Your e-mail address, to sign in to the portal (optional)</label>
<input id="email" name="email" type="email" maxlength="254" autocomplete="email" value="${asked.email}"${marks('email')}>
${problemAt('email')}`
}
<details id="own-key" open>
<summary>Your own RSA key</summary>
<p class="quiet">Make a pair, and paste the public half. The private half stays with you.</p>
<pre class="commands" tabindex="0">openssl genrsa -out private.pem 2048
openssl rsa -in private.pem -pubout</pre>
<label for="publicKey">Public key</label>
<textarea id="publicKey" name="publicKey" rows="6" required spellcheck="false" autocomplete="off" placeholder="-----BEGIN PUBLIC KEY-----"${marks('publicKey')}>${asked.publicKey}</textarea>
</details>
${problemAt('publicKey')}
<p class="quiet" id="in-browser" hidden>Your RSA key pair is made in this browser. The private key never leaves it: you download it on the next page.</p>
<button class="primary" type="submit">Get access</button>
<p class="quiet" id="progress" role="status"></p>
</form>
</main>`
}

export function accessGiven(access: Extract<Access, { kind: 'given' }> & { gatewayUrl: string }): Html {
  const { made, platformPublicKey, gatewayUrl, link, mailedTo } = access
  const { merchantId, name } = made.merchant
  const env = merchantEnv({ gatewayUrl, merchantId, aesKey: made.aesKey, platformPublicKey })
  return html`<main>
<p>${statusBadge('good', 'Ready')}</p>
<h1>${name} can take test payments</h1>
<ol class="next">
<li><h2>Save your keys</h2>
<p><strong>The AES key is shown only once.</strong> <span id="key-place"><code>private.pem</code> is the private key that belongs to your public key.</span></p>
<p class="acts" id="acts" data-playground="${playgroundPath}"></p>
<details id="env-file" open><summary>Your .env file</summary>
<pre id="env" tabindex="0">${env}</pre></details></li>
<li><h2>Create an order</h2>
<p class="quiet">In the folder with this <code>.env</code>, on Node.js 20.12 or later:</p>
<pre class="commands" tabindex="0">${installCommand(gatewayUrl)}
npx till create --amount 12.50 --currency EUR</pre>
<p>The <a href="/docs/quickstart">quickstart</a> continues with your own program and <a href="/docs/callbacks#on-your-own-machine">callbacks on your own machine</a>.</p></li>
${
  link !== undefined &&
  html`<li><h2>See it in the portal</h2>
<p class="quiet">You choose a password there. The link works once and expires in three days.</p>
<p class="acts"><a class="button" id="portal" href="${link}" target="_blank" rel="noopener">Open the portal</a></p></li>`
}
${
  mailedTo !== undefined &&
  html`<li><h2>See it in the portal</h2>
<p>We sent a link to your portal to ${mailedTo}. The link works once and expires in three days.</p></li>`
}
</ol>
<details><summary>Each value</summary>
<dl class="facts">
<div><dt>Merchant ID</dt><dd><code>${merchantId}</code></dd></div>
<div><dt>AES key</dt><dd><code>${made.aesKey}</code></dd></div>
<div><dt>API URL</dt><dd><code>${gatewayUrl}</code></dd></div>
</dl>
<p class="quiet">The gateway’s public key verifies callbacks. It is public. You can also get it at <a href="/platform-keys">/platform-keys</a>.</p>
<pre tabindex="0">${platformPublicKey.trim()}</pre></details>
</main>`
}

export function accessRefused(words: string): Html {
  return html`<main>

<h1>No access was given</h1>
<p>${words}</p>
<p><a href="${sandboxAccessPath}">Back to the form</a></p>
</main>`
}
