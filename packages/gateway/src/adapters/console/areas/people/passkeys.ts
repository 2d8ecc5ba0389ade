// The operator's own passkeys. Adding one and removing one ask for the password: it would outlive the session.
import type { PasskeySite } from '../../../../identity/accounts/rules/passkey.ts'
import { maxPasskeyNameLength } from '../../../../identity/accounts/rules/passkey.ts'
import { fieldOf } from '../../../kit/forms/form-fields.ts'
import { passkeyForm } from '../../../kit/forms/passkey-form.ts'
import { html } from '../../../kit/html.ts'
import { table } from '../../../kit/pages/tables.ts'
import { type ConsoleAct, type ConsolePage, type ConsoleRoute, ownAct, type Visit } from '../../console.ts'
import { carried, foldedForm } from '../../forms.ts'
import { demandHavingPassword, demandProof, keptAtProvider, proofFields } from '../../proof.ts'
import { ago } from '../../words.ts'

export const passkeysPath = '/account/passkeys'

const act = (name: string, fields: readonly string[], work: ConsoleAct['act']) =>
  ownAct(`${passkeysPath}/${name}`, { page: passkeysPath, fields, act: work })

export const passkeysArea: readonly ConsoleRoute[] = [
  { path: passkeysPath, show },
  act('begin', ['password', 'code'], async (visit, form) => {
    const { site, service } = visit
    demandHavingPassword(visit)
    if (!site) return { kind: 'refused', errors: [{ field: undefined, message: needsName }] }
    await demandProof(visit, form)
    const options = await service.passkeys.beginAdding(ownOf(visit), site)
    return { kind: 'shown_once', page: makePage(visit, site, options) }
  }),
  act('add', ['name'], async (visit, form) => {
    const { site, service } = visit
    if (!site) return { kind: 'refused', errors: [{ field: undefined, message: needsName }] }
    const given = { name: form.get('name') ?? '', credential: form.get('credential') ?? '' }
    await service.passkeys.add(ownOf(visit), given, site)
    return { kind: 'go', to: passkeysPath, note: 'The passkey is added. You can sign in with it.' }
  }),
  act('remove', ['password', 'code'], async (visit, form) => {
    await demandProof(visit, form)
    await visit.service.passkeys.remove(ownOf(visit), form.get('credentialId') ?? '')
    return { kind: 'go', to: passkeysPath, note: 'The passkey is removed. It signs nobody in any more.' }
  }),
]

const needsName =
  'Passkeys need the console at a name: open it as localhost, or by a name of ADMIN_NAMES over https.'

function ownOf({ operator: { login, accessVersion }, actor, formToken }: Visit) {
  return { login, accessVersion, actor, boundTo: formToken }
}

async function show(visit: Visit): Promise<ConsolePage> {
  const { operator, nowMs, service, site } = visit
  const passkeys = await service.passkeys.list(operator.login)
  return {
    title: 'Passkeys',
    area: 'account',
    content: html`<p>A passkey is kept by your device or password manager, which asks for your finger, your face or its PIN: it signs you in without password and code, and works at this console alone.</p>
${
  passkeys.length > 0 &&
  table(
    'Your passkeys',
    ['Name', 'Added', 'Last used', 'Acts'],
    passkeys.map(({ credentialId, name, createdAtMs, lastUsedAtMs }) => [
      name,
      ago(createdAtMs, nowMs),
      lastUsedAtMs === undefined ? 'never' : ago(lastUsedAtMs, nowMs),
      foldedForm(visit, {
        needs: 'viewer',
        action: `${passkeysPath}/remove`,
        label: 'Remove…',
        explains: 'It signs you in no more. The entry on your device stays until you delete it there.',
        fields: html`<input type="hidden" name="credentialId" value="${credentialId.toString('base64url')}">${proofFields(visit, operator, `${passkeysPath}/remove`)}`,
        button: `Remove ${name}`,
        isDangerous: true,
      }),
    ]),
  )
}
<h2>Add one</h2>
${
  !operator.hasPassword
    ? html`<p>${keptAtProvider}</p>`
    : site === undefined
      ? html`<p>${needsName}</p>`
      : html`<form method="post" action="${passkeysPath}/begin" class="stack narrow">
${carried(visit)}
${proofFields(visit, operator, `${passkeysPath}/begin`)}
<button class="primary">Add a passkey</button>
</form>`
}`,
  }
}

function makePage(visit: Visit, site: PasskeySite, options: object): ConsolePage {
  return {
    title: 'Add a passkey',
    area: 'account',
    withPasskeyScript: true,
    content: html`<p>Give it a name by which you will know it, such as "laptop". Then your browser asks where to keep it.</p>
<noscript><p>This needs JavaScript.</p></noscript>
${passkeyForm({
  action: `${passkeysPath}/add`,
  site,
  asked: { options },
  trouble: 'Your browser made no passkey. Try again, or go back and begin anew.',
  fields: html`${carried({ ...visit, url: passkeysPath })}${fieldOf({
    name: 'name',
    label: 'Name',
    isRequired: true,
    attributes: html` maxlength="${maxPasskeyNameLength}" autocomplete="off"`,
  })}<button class="primary">Make the passkey</button>`,
})}`,
  }
}
