// Pages, forms and files for people who are signed in, as data: what each adapter declares.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FieldError } from '../../actions/read-input.ts'
import type { PasskeySite } from '../../identity/accounts/rules/passkey-site.ts'
import type { SentForm } from './forms/uploads.ts'

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

/** `:name` stands for the value of the name. */
export function filledPath(path: string, values: Readonly<Record<string, string | undefined>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
}
