// The shop's keys: live and earlier ones, how to add one, and the steps of a current replacement.

import { fingerprintOf } from '../../../core/merchants/key-fingerprint.ts'
import type { ShownKey } from '../../../core/merchants/manage-merchants.ts'
import { type Rotation, rotationOf } from '../../../core/merchants/rules/key-use.ts'
import { type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { empty, facts } from '../../kit/pages/tables.ts'
import { actLink, acts, ago, card, developerTabs, tabs, time } from '../parts.ts'
import type { PortalPage, PortalRoute, Visit } from '../portal.ts'

export const keysArea: readonly PortalRoute[] = [{ path: '/keys', show }]

async function show(visit: Visit): Promise<PortalPage> {
  const { operations, context, language } = visit
  const { words } = language
  const [{ keys }, platformPublicKey] = await Promise.all([
    operations.merchants.showMerchant(context, context.merchantId),
    operations.platformPublicKey(),
  ])
  const live = keys.filter(({ revokedAtMs }) => revokedAtMs === undefined)
  const ended = keys.filter(({ revokedAtMs }) => revokedAtMs !== undefined).toReversed()
  const ofKind = (kind: ShownKey['kind']) => live.filter((key) => key.kind === kind)
  const list = (found: readonly ShownKey[], add?: Html) =>
    found.length === 0
      ? html`${empty(words.keys.none)}${acts(add)}`
      : found.map((key, index) => keyFacts(visit, key, index === found.length - 1 ? add : undefined))
  return {
    title: words.tabs.keys,
    docs: '/docs/sdk#rotate-your-keys',
    area: 'developer',
    content: html`${tabs(visit, developerTabs, 'keys')}<p>${words.keys.text}</p>
${rotations(visit, keys)}
<div class="grid">${card(words.keys.rsa, list(ofKind('rsa'), actLink(visit, 'newRsaKey')))}
${card(words.keys.aes, list(ofKind('aes'), actLink(visit, 'newAesKey')))}</div>
${card(words.keys.platform, html`<p>${words.keys.platformText}</p><pre tabindex="0">${platformPublicKey.trim()}</pre>`)}
${ended.length > 0 && card(words.keys.revoked, list(ended))}`,
  }
}

/** `add`: the button for another key. */
function keyFacts(visit: Visit, key: ShownKey, add?: Html): Html {
  const { language } = visit
  const { words } = language
  const { keyId, kind, usedAtMs, sealsCallbacks } = key
  const isLive = key.revokedAtMs === undefined
  return html`${facts([
    [
      words.common.status,
      isLive
        ? html`${statusBadge('good', words.keys.live)}${sealsCallbacks && html` ${statusBadge('good', words.keys.encryptsCallbacks)}`}`
        : html`${statusBadge('off', words.keys.revoked)}`,
    ],
    [words.keys.made, time(key.createdAtMs, language)],
    [words.keys.lastRequest, usedAtMs === undefined ? words.keys.neverUsed : ago(usedAtMs, visit)],
    key.kind === 'rsa' && [words.keys.fingerprint, html`<code>${fingerprintOf(key.publicKey)}</code>`],
    [words.keys.keyId, html`<code>${keyId}</code>`],
  ])}${acts(
    add,
    isLive && kind === 'aes' && !sealsCallbacks && actLink(visit, 'useForCallbacks', { keyId }),
    isLive && actLink(visit, 'revokeKey', { keyId }),
  )}`
}

function rotations(visit: Visit, keys: readonly ShownKey[]): Html[] {
  const { replaceAes, replaceRsa } = visit.language.words.keys
  return (
    [
      ['aes', replaceAes],
      ['rsa', replaceRsa],
    ] as const
  ).flatMap(([kind, heading]) => {
    const rotation = rotationOf(keys, kind, visit.nowMs)
    return rotation ? [card(heading, steps(visit, rotation))] : []
  })
}

function steps(visit: Visit, { newKey, oldKey, step }: Rotation): Html {
  const { added, installAes, sendRequest, signWithNew, waitForOld, revokeOld, removeOld } =
    visit.language.words.keys
  const { usedAtMs } = oldKey
  const wait = usedAtMs !== undefined && fill(waitForOld, { when: ago(usedAtMs, visit) })
  const all = [
    { text: added, isNow: false },
    ...(newKey.kind === 'aes'
      ? [
          { text: installAes, isNow: step === 'install' },
          { text: sendRequest, isNow: step === 'install' },
        ]
      : [{ text: signWithNew, isNow: step === 'install' }]),
    ...(wait ? [{ text: wait, isNow: step === 'wait' }] : []),
    { text: revokeOld, isNow: step === 'revoke' },
    ...(newKey.kind === 'aes' ? [{ text: removeOld, isNow: false }] : []),
  ]
  return html`<ol>${all.map(({ text, isNow }) => (isNow ? html`<li aria-current="step"><strong>${text}</strong></li>` : html`<li>${text}</li>`))}</ol>`
}
