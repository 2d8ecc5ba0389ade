// A member's own account and their shops.
import { type AccountPages, accountParts, accountRoutes } from '../../kit/accounts/own-account.ts'
import { carried } from '../../kit/forms/refused-form.ts'
import { type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import { ago, card, shopTabs, tabs } from '../parts.ts'
import { type PortalPage, type PortalRoute, pathTo, prefix, type Visit } from '../portal.ts'

const page = '/account'
const shopPath = `${page}/shop`
const pages: AccountPages<PortalPage> = {
  pathTo,
  page: (small) => ({ ...small, area: 'shop' }),
  when: ({ language, nowMs }, timeMs) => ago(timeMs, { language, nowMs }),
}

export const accountArea: readonly PortalRoute[] = [
  { path: page, show },
  {
    path: shopPath,
    page,
    fields: [],
    async act({ memberships, shopCookie }, form) {
      const wished = memberships.find(({ merchantId }) => merchantId === form.get('merchantId'))
      if (!wished) return { kind: 'refused', errors: [] }
      return { kind: 'go', to: prefix, cookies: [shopCookie(wished.merchantId)] }
    },
  },
  ...accountRoutes(pages),
]

async function show(visit: Visit): Promise<PortalPage> {
  const { account, member, language } = visit
  const { words } = language
  const youAre = { email: account.login, role: words.roles[member.role], shop: member.merchantName }
  return {
    title: words.tabs.account,
    area: 'shop',
    content: html`${tabs(visit, shopTabs, 'account')}<p class="wrap">${fill(words.account.youAre, youAre)}</p>
<div class="grid">${shops(visit)}
${await accountParts(visit, pages)}</div>`,
  }
}

function shops(visit: Visit): Html | undefined {
  const { memberships, member, language } = visit
  if (memberships.length < 2) return undefined
  return card(
    language.words.account.shops,
    html`<ul class="plain">${memberships.map(
      ({ merchantId, merchantName }) =>
        html`<li><form method="post" action="${pathTo(shopPath)}" class="stack">${carried(visit)}<input type="hidden" name="merchantId" value="${merchantId}"><button${merchantId === member.merchantId && html` disabled`}><bdi>${merchantName}</bdi></button></form></li>`,
    )}</ul>`,
  )
}
