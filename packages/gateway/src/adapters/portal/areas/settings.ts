// The shop's own details: its merchant ID for every request, callbacks, color and logo.
import { html } from '../../kit/html.ts'
import { logoPath } from '../../kit/pages/logos.ts'
import { statusBadge, statusLooks } from '../../kit/pages/status.ts'
import { facts } from '../../kit/pages/tables.ts'
import { actLink, acts, card, shopTabs, tabs } from '../parts.ts'
import type { PortalPage, PortalRoute, Visit } from '../portal.ts'

export const settingsArea: readonly PortalRoute[] = [{ path: '/settings', show }]

async function show(visit: Visit): Promise<PortalPage> {
  const { operations, context } = visit
  const { words } = visit.language
  const { settings } = words
  const { merchant } = await operations.merchants.showMerchant(context, context.merchantId)
  return {
    title: words.tabs.settings,
    area: 'shop',
    content: html`${tabs(visit, shopTabs, 'settings')}
<div class="grid"><div>${card(
      html`<bdi>${merchant.name}</bdi>`,
      html`<p class="quiet">${settings.nameText}</p>${facts([
        [
          settings.serviceId,
          html`<code>${merchant.merchantId}</code><br><span class="quiet small">${settings.serviceIdText}</span>`,
        ],
        [words.common.status, statusBadge(statusLooks[merchant.status], settings.status[merchant.status])],
        [settings.gateway, html`<code>${operations.publicUrl}</code>`],
      ])}`,
    )}
${card(
  settings.logo,
  html`${
    merchant.logoHash === undefined
      ? html`<p class="quiet">${words.common.none}</p>`
      : html`<p><img src="${logoPath(merchant.merchantId, merchant.logoHash)}" alt="" width="64" height="64"></p>`
  }${acts(actLink(visit, 'logo'))}`,
)}</div><div>
${card(
  words.tabs.callbacks,
  html`${facts([
    [
      words.fields.defaultCallbackUrl,
      html`<span class="wrap">${merchant.defaultCallbackUrl ?? words.common.none}</span>`,
    ],
    [settings.callbackHosts, merchant.callbackHosts?.join(', ') ?? settings.anyHost],
    [
      settings.colour,
      merchant.accentColour === undefined ? settings.standard : html`<code>${merchant.accentColour}</code>`,
    ],
  ])}${acts(actLink(visit, 'settings'))}`,
)}</div></div>`,
  }
}
