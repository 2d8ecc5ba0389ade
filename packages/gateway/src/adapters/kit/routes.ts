// Pages, forms and files for people who are signed in, as data, and the guard in front of each of them. A form must come
// from our own page and carry the token of the session. An accepted form is answered with a redirect, so that reloading
// never repeats it; a rejected form comes back with what was typed and an error at each field.
import { Failure, httpStatusOf, KeyError } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type FieldError, toFieldError } from '../../actions/read-input.ts'
import type { PasskeySite } from '../../identity/accounts/rules/passkey.ts'
import type { SignInCookies } from './accounts/cookies.ts'
import type { Downloads } from './downloads.ts'
import { acceptUploads, readSentForm, type SentForm } from './forms/uploads.ts'
import { redirect } from './layout.ts'
import type { Flash } from './pages/flash.ts'
import { isFromElsewhere } from './requests.ts'

/** A request of a person who is signed in. */
export interface BaseVisit {
  readonly formToken: string
  /** Undefined if passkeys cannot work at this address. */
  readonly site: PasskeySite | undefined
  readonly nowMs: number
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Path and query of the page. */
  readonly url: string
  /** A form of this page was rejected. */
  readonly refused?: Refused | undefined
}

export interface Refused {
  /** Where the form was sent. */
  readonly action: string
  readonly typed: URLSearchParams
  readonly errors: readonly FieldError[]
}

export type Done<Visit, Page> =
  | {
      readonly kind: 'go'
      /** Undefined: to the page of the form. */
      readonly to?: string | undefined
      readonly flash?: string | undefined
      readonly cookies?: readonly string[]
      readonly endsSession?: true
    }
  /** An answer to this form alone, such as a secret that is shown only once. */
  | { readonly kind: 'shown_once'; readonly page: Page }
  | {
      readonly kind: 'refused'
      readonly errors: readonly FieldError[]
      /** Undefined: the page of the form comes back. */
      readonly back?: (visit: Visit) => Promise<Page>
    }

export interface View<Visit, Page> {
  readonly path: string
  /** Undefined if there is no such thing. */
  readonly show: (visit: Visit) => Promise<Page | undefined>
}

export interface FormRoute<Visit, Page> {
  readonly path: string
  /** Path of the page on which the form usually is. Undefined: the path to which the form is sent. */
  readonly page?: string
  /** The fields next to which an error can be shown. Undefined: all. */
  readonly fields?: readonly string[]
  /** The form is sent as multipart/form-data. */
  readonly takesFile?: boolean
  readonly act: (visit: Visit, form: URLSearchParams, files: SentForm['files']) => Promise<Done<Visit, Page>>
}

export interface Download {
  readonly fileName: string
  readonly type: string
  readonly content: AsyncIterable<string> | Buffer
}

export interface FileRoute<Visit> {
  readonly path: string
  /** Undefined if there is no such thing. */
  readonly download: (visit: Visit) => Promise<Download | undefined>
}

export type Route<Visit, Page> = View<Visit, Page> | FormRoute<Visit, Page> | FileRoute<Visit>

export interface Call<Visit> {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly visit: Visit
}

export type Trouble<Each> =
  | { readonly kind: 'nothing_here' }
  | { readonly kind: 'stale' }
  | { readonly kind: 'wrong_role'; readonly route: Each }
  | { readonly kind: 'too_many_downloads' }
  /** The form was rejected, and its page is gone. */
  | { readonly kind: 'refused'; readonly errors: readonly FieldError[] }

/** How an adapter serves its routes. */
export interface RouteSurface<Visit, Page, Each> {
  readonly prefix: string
  readonly cookies: SignInCookies
  /** All files of a form together. */
  readonly maxFileBytes: number
  readonly downloads?: Downloads
  /** Undefined if the request was answered, because the person must sign in first. */
  enter(request: FastifyRequest, reply: FastifyReply): Promise<Visit | undefined>
  mayUse?(route: Each, visit: Visit): boolean
  originsOf(request: FastifyRequest): readonly string[]
  isRightToken(token: string, visit: Visit): boolean
  /** Completes a visit before a page is shown. */
  prepare?(visit: Visit): Promise<Visit>
  /** Undefined if the person cannot correct the error; it is handled as everywhere. */
  errorsOf(error: unknown, visit: Visit): readonly FieldError[] | undefined
  /** Whose downloads are counted together. */
  ownerOf?(visit: Visit): { readonly merchantId: string }
  /** Above the errors of a rejected form. */
  refusedText(visit: Visit, errors: readonly FieldError[]): string
  send(call: Call<Visit>, page: Page, flash?: Flash): FastifyReply | Promise<FastifyReply>
  sendTrouble(call: Call<Visit>, trouble: Trouble<Each>): FastifyReply | Promise<FastifyReply>
}

export function serveRoutes<Visit extends BaseVisit, Page, Each extends Route<Visit, Page>>(
  listener: FastifyInstance,
  routes: readonly Each[],
  surface: RouteSurface<Visit, Page, Each>,
): void {
  const { cookies, prefix } = surface
  const views = routes
    .flatMap((route) => {
      const each: Route<Visit, Page> = route
      return 'show' in each ? [{ route, show: each.show, find: pathFinder(prefix + each.path) }] : []
    })
    // As the router does: /links/new is not a link.
    .toSorted((a, b) => parametersIn(a.route.path) - parametersIn(b.route.path))

  for (const route of routes) {
    const path = prefix + route.path
    const answer = guarded(route)
    if (!('act' in route)) listener.get(path, answer)
    else if (!route.takesFile) listener.post(path, answer)
    else
      listener.register(async (files) => {
        acceptUploads(files)
        files.post(path, { config: { acceptsMultipart: true } }, answer)
      })
  }

  function guarded(route: Each) {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const visit = await surface.enter(request, reply)
      if (!visit) return reply
      const call = { request, reply, visit }
      if (!mayUse(route, visit)) return surface.sendTrouble(call, { kind: 'wrong_role', route })
      try {
        return await answerWith(call, route)
      } catch (error) {
        if (isMissing(error)) return surface.sendTrouble(call, { kind: 'nothing_here' })
        throw error
      }
    }
  }

  function answerWith(call: Call<Visit>, route: Route<Visit, Page>): Promise<FastifyReply> {
    if ('act' in route) return take(call, route)
    return 'show' in route ? view(call, route) : download(call, route)
  }

  function mayUse(route: Each, visit: Visit): boolean {
    return surface.mayUse?.(route, visit) ?? true
  }

  async function prepared(visit: Visit): Promise<Visit> {
    return surface.prepare ? surface.prepare(visit) : visit
  }

  async function view(call: Call<Visit>, { show }: View<Visit, Page>): Promise<FastifyReply> {
    const page = await show(await prepared(call.visit))
    if (!page) return surface.sendTrouble(call, { kind: 'nothing_here' })
    const flash = cookies.flash.read(call.request)
    if (flash) call.reply.header('set-cookie', cookies.flash.end(call.request))
    return surface.send(call, page, flash)
  }

  async function download(call: Call<Visit>, route: FileRoute<Visit>): Promise<FastifyReply> {
    const { reply, visit } = call
    const made = await route.download(await prepared(visit))
    if (!made) return surface.sendTrouble(call, { kind: 'nothing_here' })
    const { fileName, type, content } = made
    const sent = Buffer.isBuffer(content)
      ? content
      : surface.downloads?.start(content, surface.ownerOf?.(visit))
    if (!sent) {
      reply.status(503).header('retry-after', 60)
      return surface.sendTrouble(call, { kind: 'too_many_downloads' })
    }
    return reply
      .header('content-type', type)
      .header('content-disposition', `attachment; filename="${fileName}"`)
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff')
      .send(sent)
  }

  async function take(call: Call<Visit>, route: FormRoute<Visit, Page>): Promise<FastifyReply> {
    const { request, reply, visit } = call
    const sent = isFromElsewhere(request, surface.originsOf(request))
      ? undefined
      : await readSentForm(request, {
          isRightToken: (token) => surface.isRightToken(token, visit),
          fileBytes: surface.maxFileBytes,
        })
    if (!sent) {
      reply.status(403)
      return surface.sendTrouble(call, { kind: 'stale' })
    }
    const done = await route.act(visit, sent.fields, sent.files).catch((error: unknown) => {
      const errors = surface.errorsOf(error, visit)
      if (!errors) throw error
      return { kind: 'refused', errors } as const
    })
    switch (done.kind) {
      case 'shown_once':
        return surface.send(call, done.page)
      case 'refused':
        return showAgain(call, route, { typed: sent.fields, done })
      case 'go':
        reply.header('set-cookie', [
          ...(done.cookies ?? []),
          ...(done.endsSession ? [cookies.endSessionCookie(request)] : []),
          ...(done.flash === undefined
            ? []
            : [cookies.flash.leave(request, { kind: 'good', text: done.flash })]),
        ])
        return redirect(reply, done.to ?? pageOf(call, route, sent.fields)?.url ?? (prefix || '/'))
    }
  }

  async function showAgain(
    call: Call<Visit>,
    route: FormRoute<Visit, Page>,
    { typed, done }: { typed: URLSearchParams; done: Extract<Done<Visit, Page>, { kind: 'refused' }> },
  ): Promise<FastifyReply> {
    const { request, reply, visit } = call
    const errors = done.errors.map(({ field, message }) => ({
      field: field !== undefined && (route.fields?.includes(field) ?? true) ? field : undefined,
      message,
    }))
    const page = pageOf(call, route, typed)
    const refused = { action: request.url, typed, errors }
    const again = await prepared({ ...visit, ...page?.at, refused })
    const shown = await (done.back?.(again) ?? page?.show(again))
    if (reply.statusCode === 200) reply.status(422)
    if (!shown) return surface.sendTrouble(call, { kind: 'refused', errors })
    return surface.send(call, shown, { kind: 'bad', text: surface.refusedText(visit, errors), errors })
  }

  /** The page on which the form was, as the form itself names it, or as its route does. */
  function pageOf(
    { visit }: Call<Visit>,
    { path, page = path }: FormRoute<Visit, Page>,
    form: URLSearchParams,
  ) {
    return (
      pageAt(form.get('from') ?? '', visit) ??
      pageAt(prefix + filledPath(page, { ...Object.fromEntries(form), ...visit.params }), visit)
    )
  }

  function pageAt(url: string, visit: Visit) {
    // A header can hold nothing else, and no page of ours has another address.
    if (!/^[\x21-\x7e]+$/.test(url)) return undefined
    const [path = '', query] = url.split('?')
    for (const { route, show, find } of views) {
      const params = find(path)
      if (params && mayUse(route, visit))
        return { url, show, at: { url, params, query: new URLSearchParams(query) } }
    }
    return undefined
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Failure && ['not_found', 'order_not_found'].includes(error.failure)
}

/** What a person can correct is shown at the form. */
export function correctable(error: unknown): readonly FieldError[] | undefined {
  const isCorrectable =
    error instanceof KeyError || (error instanceof Failure && httpStatusOf(error.code) < 500)
  return isCorrectable ? [toFieldError(error)] : undefined
}

/** `:name` stands for the value of the name. */
export function filledPath(path: string, values: Readonly<Record<string, string | undefined>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
}

function parametersIn(path: string): number {
  return path.split(':').length
}

/** Reads the parameters of a path; undefined if it is another path. */
function pathFinder(template: string): (path: string) => Record<string, string> | undefined {
  const names = [...template.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const pattern = new RegExp(`^${template.replace(/:\w+/g, '([^/]+)')}$`)
  return (path) => {
    const found = pattern.exec(path)
    return found
      ? Object.fromEntries(names.map((name, index) => [name, decoded(found[index + 1] ?? '')]))
      : undefined
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
