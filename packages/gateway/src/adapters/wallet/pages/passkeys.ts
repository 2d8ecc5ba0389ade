// The passkeys of a wallet's owner, who confirms with the PIN.
import { passkeyRoutes } from '../../kit/accounts/passkeys.ts'
import { html } from '../../kit/html.ts'
import { confirmPin } from '../confirm.ts'
import { pinField, textField } from '../fields.ts'
import { card } from '../frame.ts'
import { prefix, type Visit, type WalletPage } from '../wallet.ts'

export const passkeysPath = '/passkeys'

export const walletPasskeyRoutes = passkeyRoutes<Visit, WalletPage>({
  path: passkeysPath,
  pathTo: (path) => prefix + path,
  page: ({ title, content, withPasskeyScript }) => ({
    title,
    at: 'settings',
    content: card(title, html`${content}`),
    ...(withPasskeyScript && { withPasskeyScript }),
  }),
  wordsOf: ({ words: { passkeys, notes } }) => ({
    ...passkeys,
    addedNow: notes.passkeyAdded,
    removed: notes.passkeyRemoved,
  }),
  passkeysOf: ({ operations }) => operations.walletPasskeys,
  ownOf: ({ wallet: { login, accessVersion, walletId }, address, formToken }) => ({
    login,
    accessVersion,
    actor: `consumer@${address}`,
    boundTo: formToken,
    subject: walletId,
  }),
  when: ({ language }, timeMs) => language.formats.time(timeMs),
  nameField: ({ refused }, label, maxLength) => textField({ name: 'name', label, refused }, 'off', maxLength),
  confirmFieldNames: ['pin'],
  confirmFields: ({ words, refused }) => pinField({ name: 'pin', label: words.withdraw.pin, refused }),
  confirm: (visit, form) => confirmPin(visit, form.get('pin') ?? ''),
  back: ({ words }) => html`<p class="ways"><a href="${prefix}/settings">${words.settings.heading}</a></p>`,
})
