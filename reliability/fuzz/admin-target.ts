// The admin API: every route that takes a body, with bodies made from its own schema, sent with a token that may do
// everything.
import assert from 'node:assert/strict'
import type { TSchema } from 'typebox'
import { apiPrefix } from '../../packages/gateway/src/adapters/admin-api/api.ts'
import { apiRoutes } from '../../packages/gateway/src/adapters/admin-api/routes.ts'
import { checkAnswer } from './expected-answer.ts'
import type { Target } from './guided.ts'
import type { FuzzWorld } from './world.ts'

export function adminTarget({ gateway, adminToken, merchant, words }: FuzzWorld): Target {
  const routes = apiRoutes.filter(({ body }) => body !== undefined)
  let acts = 0
  return {
    name: 'admin api',
    words: [...words, merchant.merchantId],
    // The number of the route, a line feed, the body.
    seeds: routes.map(({ body }, index) =>
      Buffer.from(`${index}\n${JSON.stringify(sampleOf(body as TSchema))}`),
    ),
    async run(input) {
      const end = input.indexOf('\n')
      const route = routes[Number(input.toString('latin1', 0, end)) % routes.length]
      if (end === -1 || !route) return 'no route'
      const params: Record<string, string> = { merchantId: merchant.merchantId, paymentId: words[0] ?? '' }
      const path = route.path.replace(/:(\w+)/g, (_, name) => params[name] ?? someUuid)
      const response = await fetch(`${gateway.adminUrl}${apiPrefix}${path}`, {
        method: route.method,
        headers: {
          authorization: `Bearer ${adminToken}`,
          'content-type': 'application/json',
          'idempotency-key': `k${acts++}`,
        },
        body: input.subarray(end + 1),
      })
      const { code, msg, data } = JSON.parse(await response.text())
      const { status, headers } = response
      // The merchant is needed further on.
      if (code === 20000 && data.status === 'suspended')
        await gateway.merchants.resumeMerchant(merchant.merchantId, 'fuzzing')
      const outcome = checkAnswer({ status, headers, code, msg, data })
      assert.notEqual(outcome, 'token_not_accepted')
      return outcome
    },
  }
}

const someUuid = '01234567-89ab-7fff-bfff-ffffffffffff'

/** Something that the schema takes, or nearly: mutation does the rest. */
function sampleOf(schema: TSchema): unknown {
  const { type, properties, items, enum: choices, minimum, pattern } = schema as Record<string, never>
  if (properties)
    return Object.fromEntries(
      Object.entries(properties as object).map(([name, each]) => [name, sampleOf(each)]),
    )
  if (items) return [sampleOf(items)]
  if (choices) return choices[0]
  if (type === 'integer') return minimum
  if (type === 'boolean') return true
  if (pattern === '^[A-Z]{3}$') return 'USD'
  return String(pattern ?? '').includes('[0-9]{1,24}') ? '1.50' : 'some text'
}
