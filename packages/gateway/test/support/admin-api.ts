// A program that speaks to the admin API: sends its token, and holds every answer to the schema of its route.
import assert from 'node:assert/strict'
import { Compile } from 'typebox/schema'
import { apiPrefix } from '../../src/faces/admin-api/api.ts'
import { apiRoutes } from '../../src/faces/admin-api/routes.ts'
import type { Answered, TestGateway } from './gateway.ts'

export interface ApiRequest {
  readonly params?: Record<string, string>
  readonly query?: Record<string, string>
  readonly body?: object
  /** Instead of a body. */
  readonly file?: string
  readonly headers?: Record<string, string>
}

export class ApiClient {
  readonly #gateway: Pick<TestGateway, 'adminUrl'>
  readonly #token: string
  /** The routes that answered with success, and so were held to their schema. */
  static readonly proven = new Set<string>()

  constructor(gateway: Pick<TestGateway, 'adminUrl'>, token: string) {
    this.#gateway = gateway
    this.#token = token
  }

  async call(
    id: string,
    { params = {}, query = {}, body, file, headers = {} }: ApiRequest = {},
  ): Promise<Answered> {
    const route = apiRoutes.find((each) => each.id === id)
    assert(route, `no route ${id}`)
    const path = route.path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ''))
    const search = new URLSearchParams(query).toString()
    const response = await fetch(`${this.#gateway.adminUrl}${apiPrefix}${path}${search && `?${search}`}`, {
      method: route.method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(file !== undefined && { 'content-type': 'application/xml' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(file !== undefined && { body: file }),
    })
    const text = await response.text()
    const isFile = /^(text\/csv|application\/xml)/.test(response.headers.get('content-type') ?? '')
    const { code, msg, data } = isFile ? { code: 20000, msg: '', data: text } : JSON.parse(text)
    if (code === 20000) {
      if (typeof route.answer !== 'string') {
        const schema = Compile(route.answer)
        assert(schema.Check(data), `${id}: ${JSON.stringify(schema.Errors(data)[1][0])} in ${text}`)
      }
      ApiClient.proven.add(id)
    }
    return { status: response.status, headers: response.headers, text, code, msg, data }
  }

  /** Where success is all that the test wants. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  async data(id: string, request?: ApiRequest): Promise<any> {
    const { code, msg, data } = await this.call(id, request)
    assert.equal(code, 20000, `${id}: ${msg}`)
    return data
  }
}
