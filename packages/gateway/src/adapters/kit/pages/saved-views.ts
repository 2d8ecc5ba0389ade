// Saved filters of a list, as chips above it. They are kept in a cookie of the browser, so
// they work without a script, and they are private.
import type { FastifyRequest } from 'fastify'
import type { CookieJar } from '../cookies.ts'
import { type Html, html } from '../html.ts'
import { icon } from '../icons.ts'

export interface SavedView {
  readonly name: string
  readonly query: string
}

export const maxViews = 8
export const maxViewName = 40
const maxQuery = 300
const keptSeconds = 365 * 24 * 60 * 60

/** What the browser of a visit keeps. */
export interface SavedViews {
  of(list: string): readonly SavedView[]
  cookie(list: string, views: readonly SavedView[]): string
}

export function savedViewsOf(jar: CookieJar, request: Pick<FastifyRequest, 'headers'>): SavedViews {
  return {
    of: (list) => readViews(jar, request, list),
    cookie: (list, views) => writeViews(jar, list, views),
  }
}

/** Each list has its own cookie. */
function readViews(jar: CookieJar, request: Pick<FastifyRequest, 'headers'>, list: string): SavedView[] {
  try {
    const written = Buffer.from(
      jar.read(request.headers.cookie, cookieOf(list)) ?? '',
      'base64url',
    ).toString()
    const found: unknown = JSON.parse(written)
    if (!Array.isArray(found)) return []
    return found.slice(0, maxViews).flatMap((each: unknown) => {
      if (!Array.isArray(each)) return []
      const [name, query] = each as unknown[]
      return isName(name) && isQuery(query) ? [{ name, query }] : []
    })
  } catch {
    return []
  }
}

function writeViews(jar: CookieJar, list: string, views: readonly SavedView[]): string {
  const written = JSON.stringify(views.map(({ name, query }) => [name, query]))
  return jar.write(cookieOf(list), Buffer.from(written).toString('base64url'), keptSeconds)
}

/** Replaces a view of the same name. Returns undefined if there is no room or nothing to save. */
export function withView(views: readonly SavedView[], { name, query }: SavedView): SavedView[] | undefined {
  const next = [...views.filter((each) => each.name !== name), { name, query }]
  return isName(name) && isQuery(query) && next.length <= maxViews ? next : undefined
}

/** The part of an address that is a filter: not its page, nor the view that is being saved. */
export function filterPart(query: URLSearchParams): string {
  const kept = new URLSearchParams([...query].filter(([name, value]) => value !== '' && !unsaved.has(name)))
  kept.sort()
  return kept.toString()
}

const unsaved: ReadonlySet<string> = new Set(['before', 'lang'])

export interface ViewWords {
  readonly save: string
  readonly name: string
  readonly saved: string
  readonly remove: (name: string) => string
}

/** The chips, and the form that saves what is chosen now. */
export function viewBar(
  views: readonly SavedView[],
  {
    path,
    query,
    action,
    hidden,
    words,
  }: {
    readonly path: string
    readonly query: URLSearchParams
    /** Where the forms are sent. */
    readonly action: string
    /** Fields that every form of the page brings back. */
    readonly hidden: Html
    readonly words: ViewWords
  },
): Html | undefined {
  const now = filterPart(query)
  const isSaved = views.some((each) => each.query === now)
  if (views.length === 0 && now === '') return undefined
  return html`<div class="views">${
    views.length > 0 &&
    html`<ul class="chips" aria-label="${words.saved}">${views.map(
      ({ name, query: saved }) =>
        html`<li><a href="${path}?${saved}"${saved === now && html` aria-current="true"`}><bdi>${name}</bdi></a><form method="post" action="${action}">${hidden}<input type="hidden" name="remove" value="${name}"><button class="plain" aria-label="${words.remove(name)}">${icon('x')}</button></form></li>`,
    )}</ul>`
  }${
    now !== '' &&
    !isSaved &&
    html`<form class="save" method="post" action="${action}">${hidden}<input type="hidden" name="query" value="${now}"><input name="name" aria-label="${words.name}" placeholder="${words.name}" maxlength="${maxViewName}" required autocomplete="off"><button>${words.save}</button></form>`
  }</div>`
}

function cookieOf(list: string): string {
  return `views-${list}`
}

function isName(name: unknown): name is string {
  return typeof name === 'string' && name.trim() !== '' && [...name].length <= maxViewName
}

function isQuery(query: unknown): query is string {
  return typeof query === 'string' && query !== '' && query.length <= maxQuery && /^[\w=&%.+*-]+$/.test(query)
}
