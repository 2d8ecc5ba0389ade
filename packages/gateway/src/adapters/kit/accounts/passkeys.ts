// A person's own passkeys. Adding one and removing one must be confirmed, because a passkey outlives the session.
import { Failure } from '@tillgate/protocol'
import type { OwnPasskeys, Passkeys } from '../../../identity/accounts/passkeys.ts'
import {
  maxPasskeyNameLength,
  type Passkey,
  type PasskeySite,
} from '../../../identity/accounts/rules/passkey-site.ts'
import type { SmallPage } from '../door.ts'
import { passkeyForm } from '../forms/passkey-form.ts'
import { carried } from '../forms/refused-form.ts'
import { type Content, type Html, html } from '../html.ts'
import { fill, fillText } from '../languages/words.ts'
import type { BaseVisit, Done, Route } from '../routes.ts'
import type { AccountWords } from './words.ts'

type PasskeyWords = Omit<AccountWords['passkeys'], 'wrong'>

/** How an adapter shows passkeys and has them confirmed. */
export interface PasskeyPages<Visit, Page> {
  readonly path: string
  pathTo(path: string): string
  page(page: SmallPage): Page
  wordsOf(visit: Visit): PasskeyWords
  passkeysOf(visit: Visit): Passkeys
  ownOf(visit: Visit): OwnPasskeys
  when(visit: Visit, timeMs: number): Content
  /** Why the person can have none here. */
  whyNone?(visit: Visit): string | undefined
  nameField(visit: Visit, label: string, maxLength: number): Html
  readonly confirmFieldNames: readonly string[]
  confirmFields(visit: Visit, action: string): Html
  /** Throws, or returns a rejection, unless the person confirmed. */
  confirm(
    visit: Visit,
    form: URLSearchParams,
  ): Promise<Extract<Done<Visit, Page>, { kind: 'refused' }> | undefined | undefined>
  /** A link back from the list. */
  back?(visit: Visit): Html
}

export function passkeyRoutes<Visit extends BaseVisit, Page>(
  pages: PasskeyPages<Visit, Page>,
): readonly Route<Visit, Page>[] {
  const { path, wordsOf, passkeysOf, ownOf } = pages
  const removePath = `${path}/:credentialId/remove`
  const removeUrl = (credentialId: string) =>
    pages.pathTo(`${path}/${encodeURIComponent(credentialId)}/remove`)

  /** Undefined if passkeys cannot be added. */
  const addableAt = (visit: Visit): PasskeySite | undefined =>
    pages.whyNone?.(visit) === undefined ? visit.site : undefined
  const notAddable = (visit: Visit): string => pages.whyNone?.(visit) ?? wordsOf(visit).needsName
  const cannotAdd = (visit: Visit): Done<Visit, Page> => ({
    kind: 'refused',
    errors: [{ field: undefined, message: notAddable(visit) }],
  })

  const findOwn = async (visit: Visit) =>
    (await passkeysOf(visit).list(ownOf(visit).login)).find(
      ({ credentialId }) => credentialId.toString('base64url') === visit.params['credentialId'],
    )

  async function show(visit: Visit): Promise<Page> {
    const words = wordsOf(visit)
    const all = await passkeysOf(visit).list(ownOf(visit).login)
    const begin = pages.pathTo(`${path}/begin`)
    return pages.page({
      title: words.heading,
      content: html`<p>${words.text}</p>
${all.length > 0 && html`<ul class="plain entries">${all.map((each) => entryOf(visit, each))}</ul>`}
${
  addableAt(visit)
    ? html`<form method="post" action="${begin}" class="stack narrow">
${carried(visit)}
${pages.confirmFields(visit, begin)}
<button class="primary" type="submit">${words.add}</button>
</form>`
    : html`<p>${notAddable(visit)}</p>`
}
${pages.back?.(visit)}`,
    })
  }

  function entryOf(visit: Visit, { credentialId, name, createdAtMs, lastUsedAtMs }: Passkey): Html {
    const words = wordsOf(visit)
    const when =
      lastUsedAtMs === undefined
        ? fill(words.added, { when: pages.when(visit, createdAtMs) })
        : fill(words.used, { when: pages.when(visit, lastUsedAtMs) })
    return html`<li><span><strong><bdi>${name}</bdi></strong> <small class="quiet">${when}</small></span> <a href="${removeUrl(credentialId.toString('base64url'))}">${words.remove}</a></li>`
  }

  async function begin(visit: Visit, form: URLSearchParams): Promise<Done<Visit, Page>> {
    const site = addableAt(visit)
    if (!site) return cannotAdd(visit)
    const refusal = await pages.confirm(visit, form)
    if (refusal) return refusal
    const options = await passkeysOf(visit).beginAdding(ownOf(visit), site)
    const words = wordsOf(visit)
    const content = html`<p>${words.nameText}</p>
<noscript><p>${words.needsScript}</p></noscript>
${passkeyForm({
  action: pages.pathTo(`${path}/add`),
  site,
  asked: { options },
  trouble: words.trouble,
  fields: html`${carried({ ...visit, url: pages.pathTo(path) })}${pages.nameField(visit, words.name, maxPasskeyNameLength)}<button class="primary" type="submit">${words.make}</button>`,
})}`
    return { kind: 'shown_once', page: pages.page({ title: words.add, withPasskeyScript: true, content }) }
  }

  async function add(visit: Visit, form: URLSearchParams): Promise<Done<Visit, Page>> {
    const site = addableAt(visit)
    if (!site) return cannotAdd(visit)
    const given = { name: form.get('name') ?? '', credential: form.get('credential') ?? '' }
    await passkeysOf(visit).add(ownOf(visit), given, site)
    return { kind: 'go', to: pages.pathTo(path), flash: wordsOf(visit).addedNow }
  }

  async function showRemove(visit: Visit): Promise<Page | undefined> {
    const words = wordsOf(visit)
    const found = await findOwn(visit)
    if (!found) return undefined
    const action = removeUrl(found.credentialId.toString('base64url'))
    return pages.page({
      title: fillText(words.removeHeading, { name: found.name }),
      content: html`<p>${words.removeText}</p><form method="post" action="${action}" class="stack narrow">
${carried(visit)}
${pages.confirmFields(visit, action)}
<button class="danger" type="submit">${words.remove}</button>
</form>`,
    })
  }

  async function remove(visit: Visit, form: URLSearchParams): Promise<Done<Visit, Page>> {
    if (!(await findOwn(visit))) throw new Failure('not_found')
    const refusal = await pages.confirm(visit, form)
    if (refusal) return refusal
    await passkeysOf(visit).remove(ownOf(visit), visit.params['credentialId'] ?? '')
    return { kind: 'go', to: pages.pathTo(path), flash: wordsOf(visit).removed }
  }

  return [
    { path, show },
    { path: `${path}/begin`, page: path, fields: pages.confirmFieldNames, act: begin },
    { path: `${path}/add`, page: path, fields: ['name'], act: add },
    { path: removePath, show: showRemove },
    { path: removePath, fields: pages.confirmFieldNames, act: remove },
  ]
}
