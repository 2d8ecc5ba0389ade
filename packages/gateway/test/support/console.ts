// A browser without pictures for the console: keeps cookies, fills in forms as a page shows them.

import assert from 'node:assert/strict'
import type { Role } from '../../src/core/authority/rules/roles.ts'
import { actingAs } from './acting.ts'
import type { TestGateway } from './gateway.ts'
import { operatorPassword } from './started.ts'

export interface ConsoleAnswer {
  readonly status: number
  readonly location: string | null
  readonly text: string
  readonly headers: Headers
}

/** A field that is there more than once has a list. */
export type Fields = Readonly<Record<string, string | readonly string[]>>

/** A new operator of this role, called like it, in a browser of their own. */
export async function signedInAs(gateway: TestGateway, role: Role): Promise<ConsoleClient> {
  const password = `a password of ${role}`
  await actingAs(gateway.operations, 'test').operators.addOperator({ login: role, role, password })
  const client = new ConsoleClient(gateway)
  await client.signIn(role, password)
  return client
}

export class ConsoleClient {
  readonly #origin: string
  readonly cookies = new Map<string, string>()
  #password = ''

  constructor(gateway: Pick<TestGateway, 'adminUrl'>) {
    this.#origin = gateway.adminUrl
  }

  get(path: string): Promise<ConsoleAnswer> {
    return this.#send(path, {})
  }

  /**
   * With the token of the page's forms, unless the test brings another, and with the password of who signed in, as forms
   * ask for it that outlive the session.
   */
  async post(
    path: string,
    fields: Fields,
    options: { on?: string; headers?: Record<string, string>; token?: string } = {},
  ): Promise<ConsoleAnswer> {
    const token = options.token ?? (await this.token(options.on ?? '/account'))
    return this.#send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...options.headers },
      body: new URLSearchParams([
        ['token', token],
        ...Object.entries({ password: this.#password, ...fields }).flatMap(([name, value]) =>
          [value].flat().map((each) => [name, each]),
        ),
      ] as [string, string][]).toString(),
    })
  }

  /** A form with a chosen file, as a browser sends it. */
  async upload(
    path: string,
    fields: Readonly<Record<string, string>>,
    file: string,
    on: string,
  ): Promise<ConsoleAnswer> {
    const body = new FormData()
    for (const [name, value] of Object.entries({ token: await this.token(on), ...fields }))
      body.set(name, value)
    body.set('file', new Blob([file]), 'statement')
    return this.#send(path, { method: 'POST', body })
  }

  /** Sends a form, and says what the page that comes then tells of it: what was done, or what to change. */
  async told(path: string, fields: Fields, options: { on?: string } = {}): Promise<string> {
    const sent = await this.post(path, fields, options)
    assert([303, 422].includes(sent.status), `${path}: ${sent.status}`)
    const { text } = sent.status === 422 ? sent : await this.get(sent.location ?? '')
    const [, note = ''] = /<div class="flash (?:good|bad)"[^>]*>(.*?)<\/div>/s.exec(text) ?? []
    return note.replaceAll(/<[^>]+>/g, ' ')
  }

  async token(page: string): Promise<string> {
    const { text } = await this.get(page)
    const [, token] = /name="token" value="([^"]+)"/.exec(text) ?? []
    assert(token, `no form on ${page}`)
    return token
  }

  async signIn(login = 'admin', password = operatorPassword): Promise<ConsoleAnswer> {
    this.#password = password
    return this.post('/sign-in', { login, password }, { on: '/sign-in' })
  }

  async #send(path: string, init: RequestInit): Promise<ConsoleAnswer> {
    const response = await fetch(this.#origin + path, {
      ...init,
      redirect: 'manual',
      headers: {
        ...(init.headers as Record<string, string>),
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (/Max-Age=0/.test(cookie)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return {
      status: response.status,
      location: response.headers.get('location'),
      text: await response.text(),
      headers: response.headers,
    }
  }
}
