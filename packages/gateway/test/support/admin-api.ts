// A program that speaks to the admin API: sends its token, and holds every answer to the schema of its route.
import assert from 'node:assert/strict'
import { Compile } from 'typebox/schema'
import { waitingAnswer } from '../../src/actions/approvals/approval-actions.ts'
import { apiPrefix } from '../../src/adapters/admin-api/api.ts'
import { apiRoutes } from '../../src/adapters/admin-api/routes.ts'
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

  /** Another operator's client, which approves what waits. */
  approver: ApiClient | undefined

  constructor(gateway: Pick<TestGateway, 'adminUrl'>, token: string) {
    this.#gateway = gateway
    this.#token = token
  }

  async call(
    id: string,
    { params = {}, query = {}, body, file, headers = {} }: ApiRequest = {},
  ): Promise<Answered> {
    const route = apiRoutes.find((each) => each.name === id)
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
        const schema = Compile(response.status === 202 ? waitingAnswer : route.answer)
        assert(schema.Check(data), `${id}: ${JSON.stringify(schema.Errors(data)[1][0])} in ${text}`)
      }
      if (response.status === 200) ApiClient.proven.add(id)
    }
    return { status: response.status, headers: response.headers, text, code, msg, data }
  }

  /** Where success is all that the test wants. What waits is approved, where there is an approver. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  async data(id: string, request?: ApiRequest): Promise<any> {
    const { status, code, msg, data } = await this.call(id, request)
    assert.equal(code, 20000, `${id}: ${msg}`)
    if (status !== 202 || !this.approver || data.outcome !== 'waiting') return data
    const params = { approvalId: data.approval.approvalId }
    const { result } = await this.approver.data('approval.approve', { params, body: { reason: 'yes' } })
    const { answer } = apiRoutes.find((each) => each.name === id) ?? assert.fail(id)
    assert(typeof answer !== 'string' && Compile(answer).Check(result), `${id}: ${JSON.stringify(result)}`)
    ApiClient.proven.add(id)
    return result
  }

  /** What became of an action that needs a second operator. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  async asked(id: string, request?: ApiRequest): Promise<any> {
    const { status, data, msg } = await this.call(id, request)
    assert.equal(status, 202, `${id}: ${msg}`)
    return data
  }
}
