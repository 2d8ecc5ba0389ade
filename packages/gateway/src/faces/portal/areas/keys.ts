// The shop's keys: live ones and those of before, and the way to new ones.
import { createHash, createPublicKey } from 'node:crypto'
import { type Html, html } from '../../../http/html.ts'
import type { MerchantKey } from '../../../merchants/rules/merchant.ts'
import { actLink, acts, card, developerTabs, empty, facts, tabs, time } from '../parts.ts'
import type { PortalPage, PortalRoute, Visit } from '../portal.ts'

export const keysArea: readonly PortalRoute[] = [{ path: '/keys', show }]

async function show(visit: Visit): Promise<PortalPage> {
  const { scope, language } = visit
  const { words } = language
  const [{ keys }, platformPublicKey] = await Promise.all([
    scope.merchant(),
    scope.service.platformPublicKey(),
  ])
  const live = keys.filter(({ revokedAtMs }) => revokedAtMs === undefined)
  const ended = keys.filter(({ revokedAtMs }) => revokedAtMs !== undefined).toReversed()
  const ofKind = (kind: MerchantKey['kind']) => live.filter((key) => key.kind === kind)
  const list = (found: readonly MerchantKey[]) =>
    found.length === 0 ? empty(words.keys.none) : found.map((key) => keyFacts(visit, key))
  return {
    title: words.tabs.keys,
    area: 'developer',
    content: html`${tabs(visit, developerTabs, 'keys')}<p>${words.keys.text}</p>
${card(words.keys.rsa, html`${list(ofKind('rsa'))}${acts(actLink(visit, 'newRsaKey'))}`)}
${card(words.keys.aes, html`${list(ofKind('aes'))}${acts(actLink(visit, 'newAesKey'))}`)}
${card(words.keys.platform, html`<p>${words.keys.platformText}</p><pre tabindex="0">${platformPublicKey.trim()}</pre>`)}
${ended.length > 0 && card(words.keys.revoked, list(ended))}`,
  }
}

function keyFacts(visit: Visit, key: MerchantKey): Html {
  const { language } = visit
  const { words } = language
  const isLive = key.revokedAtMs === undefined
  return html`${facts([
    [
      words.common.status,
      isLive
        ? html`<span class="status good">${words.keys.live}</span>`
        : html`<span class="status off">${words.keys.revoked}</span>`,
    ],
    [words.keys.made, time(key.createdAtMs, language)],
    key.kind === 'rsa' && [words.keys.fingerprint, html`<code>${fingerprint(key.publicKey)}</code>`],
    ['keyId', html`<code>${key.keyId}</code>`],
  ])}${acts(isLive && actLink(visit, 'revokeKey', { keyId: key.keyId }))}`
}

/** As `openssl pkey -pubin -outform DER | sha256sum` says it. */
function fingerprint(publicKey: string): string {
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(der).digest('hex')
}
