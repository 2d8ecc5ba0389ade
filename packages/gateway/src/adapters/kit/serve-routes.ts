// The guard in front of every page, form and file for people who are signed in. A form must come from our own page and
// carry the token of the session. An accepted form is answered with a redirect, so that reloading never repeats it; a
// rejected form comes back with what was typed and an error at each field.
import { Failure, httpStatusOf, KeyError } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type FieldError, toFieldError } from '../../actions/read-input.ts'
import type { SignInCookies } from './accounts/cookies.ts'
import type { Downloads } from './downloads.ts'
import { acceptUploads, readSentForm } from './forms/uploads.ts'
import { redirect } from './layout.ts'
import type { Flash } from './pages/flash.ts'
import { isFromElsewhere } from './requests.ts'
import {
  type BaseVisit,
  type Call,
  type Done,
  type FileRoute,
  type FormRoute,
  filledPath,
  type Route,
  type Trouble,
  type View,
} from './routes.ts'

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
  const guard = new Guard(routes, surface)
  for (const route of routes) {
    const path = surface.prefix + route.path
    const answer = guard.guarded(route)
    if (!('act' in route)) listener.get(path, answer)
    else if (!route.takesFile) listener.post(path, answer)
    else
      listener.register(async (files) => {
        acceptUploads(files)
        files.post(path, { config: { acceptsMultipart: true } }, answer)
      })
  }
}

class Guard<Visit extends BaseVisit, Page, Each extends Route<Visit, Page>> {
  readonly #surface: RouteSurface<Visit, Page, Each>
  readonly #views

  constructor(routes: readonly Each[], surface: RouteSurface<Visit, Page, Each>) {
    this.#surface = surface
    this.#views = routes
      .flatMap((route) => {
        const each: Route<Visit, Page> = route
        return 'show' in each
          ? [{ route, show: each.show, find: pathFinder(surface.prefix + each.path) }]
          : []
      })
      // As the router does: /links/new is not a link.
      .toSorted((a, b) => parametersIn(a.route.path) - parametersIn(b.route.path))
  }

  guarded(route: Each) {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const visit = await this.#surface.enter(request, reply)
      if (!visit) return reply
      const call = { request, reply, visit }
      if (!this.#mayUse(route, visit)) return this.#surface.sendTrouble(call, { kind: 'wrong_role', route })
      try {
        return await this.#answerWith(call, route)
      } catch (error) {
        if (isMissing(error)) return this.#surface.sendTrouble(call, { kind: 'nothing_here' })
        throw error
      }
    }
  }

  #answerWith(call: Call<Visit>, route: Route<Visit, Page>): Promise<FastifyReply> {
    if ('act' in route) return this.#take(call, route)
    return 'show' in route ? this.#view(call, route) : this.#download(call, route)
  }

  #mayUse(route: Each, visit: Visit): boolean {
    return this.#surface.mayUse?.(route, visit) ?? true
  }

  async #prepared(visit: Visit): Promise<Visit> {
    return this.#surface.prepare ? this.#surface.prepare(visit) : visit
  }

  async #view(call: Call<Visit>, { show }: View<Visit, Page>): Promise<FastifyReply> {
    const page = await show(await this.#prepared(call.visit))
    if (!page) return this.#surface.sendTrouble(call, { kind: 'nothing_here' })
    const flash = this.#surface.cookies.flash.read(call.request)
    if (flash) call.reply.header('set-cookie', this.#surface.cookies.flash.end(call.request))
    return this.#surface.send(call, page, flash)
  }

  async #download(call: Call<Visit>, route: FileRoute<Visit>): Promise<FastifyReply> {
    const { reply, visit } = call
    const made = await route.download(await this.#prepared(visit))
    if (!made) return this.#surface.sendTrouble(call, { kind: 'nothing_here' })
    const { fileName, type, content } = made
    const sent = Buffer.isBuffer(content)
      ? content
      : this.#surface.downloads?.start(content, this.#surface.ownerOf?.(visit))
    if (!sent) {
      reply.status(503).header('retry-after', 60)
      return this.#surface.sendTrouble(call, { kind: 'too_many_downloads' })
    }
    return reply
      .header('content-type', type)
      .header('content-disposition', `attachment; filename="${fileName}"`)
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff')
      .send(sent)
  }

  async #take(call: Call<Visit>, route: FormRoute<Visit, Page>): Promise<FastifyReply> {
    const { request, reply, visit } = call
    const sent = isFromElsewhere(request, this.#surface.originsOf(request))
      ? undefined
      : await readSentForm(request, {
          isRightToken: (token) => this.#surface.isRightToken(token, visit),
          fileBytes: this.#surface.maxFileBytes,
        })
    if (!sent) {
      reply.status(403)
      return this.#surface.sendTrouble(call, { kind: 'stale' })
    }
    const done = await route.act(visit, sent.fields, sent.files).catch((error: unknown) => {
      const errors = this.#surface.errorsOf(error, visit)
      if (!errors) throw error
      return { kind: 'refused', errors } as const
    })
    switch (done.kind) {
      case 'shown_once':
        return this.#surface.send(call, done.page)
      case 'refused':
        return this.#showAgain(call, route, { typed: sent.fields, done })
      case 'go':
        reply.header('set-cookie', [
          ...(done.cookies ?? []),
          ...(done.endsSession ? [this.#surface.cookies.endSessionCookie(request)] : []),
          ...(done.flash === undefined
            ? []
            : [this.#surface.cookies.flash.leave(request, { kind: 'good', text: done.flash })]),
        ])
        return redirect(
          reply,
          done.to ?? this.#pageOf(call, route, sent.fields)?.url ?? (this.#surface.prefix || '/'),
        )
    }
  }

  async #showAgain(
    call: Call<Visit>,
    route: FormRoute<Visit, Page>,
    { typed, done }: { typed: URLSearchParams; done: Extract<Done<Visit, Page>, { kind: 'refused' }> },
  ): Promise<FastifyReply> {
    const { request, reply, visit } = call
    const errors = done.errors.map(({ field, message }) => ({
      field: field !== undefined && (route.fields?.includes(field) ?? true) ? field : undefined,
      message,
    }))
    const page = this.#pageOf(call, route, typed)
    const refused = { action: request.url, typed, errors }
    const again = await this.#prepared({ ...visit, ...page?.at, refused })
    const shown = await (done.back?.(again) ?? page?.show(again))
    if (reply.statusCode === 200) reply.status(422)
    if (!shown) return this.#surface.sendTrouble(call, { kind: 'refused', errors })
    return this.#surface.send(call, shown, {
      kind: 'bad',
      text: this.#surface.refusedText(visit, errors),
      errors,
    })
  }

  /** The page on which the form was, as the form itself names it, or as its route does. */
  #pageOf({ visit }: Call<Visit>, { path, page = path }: FormRoute<Visit, Page>, form: URLSearchParams) {
    return (
      this.#pageAt(form.get('from') ?? '', visit) ??
      this.#pageAt(
        this.#surface.prefix + filledPath(page, { ...Object.fromEntries(form), ...visit.params }),
        visit,
      )
    )
  }

  #pageAt(url: string, visit: Visit) {
    // A header can hold nothing else, and no page of ours has another address.
    if (!/^[\x21-\x7e]+$/.test(url)) return undefined
    const [path = '', query] = url.split('?')
    for (const { route, show, find } of this.#views) {
      const params = find(path)
      if (params && this.#mayUse(route, visit))
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
