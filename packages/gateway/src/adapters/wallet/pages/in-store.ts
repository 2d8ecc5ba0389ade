// Paying in a store: the consumer scans or pastes the code that the store shows, and continues at its checkout.

import { payAddress } from '../../../core/orders/rules/emv-code.ts'
import { html } from '../../kit/html.ts'
import { scanner } from '../../kit/pages/scanner.ts'
import { longTextField } from '../fields.ts'
import { card, walletForm } from '../frame.ts'
import { refused, type Visit, type WalletPage, type WalletRoute } from '../wallet.ts'

export const inStoreRoutes: readonly WalletRoute[] = [
  { path: '/in-store', show },
  {
    path: '/in-store',
    async act(visit, form) {
      const path = payAddress(form.get('content') ?? '', visit.origins)
      return path === undefined
        ? refused(visit, 'codeUnknown', { field: 'content' })
        : { kind: 'go', to: path }
    },
  },
]

async function show(visit: Visit): Promise<WalletPage> {
  const { inStore } = visit.words
  return {
    title: inStore.heading,
    at: 'home',
    withScanScript: true,
    content: card(
      inStore.scan,
      html`<p class="quiet">${inStore.scanText}</p>
${walletForm(
  visit,
  '/in-store',
  html`${scanner({ fills: 'content', label: inStore.camera })}
${longTextField({ name: 'content', label: inStore.content, refused: visit.refused })}
<button class="primary" type="submit">${inStore.continue}</button>`,
)}`,
    ),
  }
}
