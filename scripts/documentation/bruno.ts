// examples/bruno/reference: a request for every operation of docs/openapi-merchant.json, with its example as the plain
// body; the script of the collection signs and seals it.
import { gatewayPath } from '../../packages/protocol/src/methods.ts'
import { exampleOf, type LiveMethod, liveMethods } from './merchant-openapi.ts'
import { operations } from './operations.ts'

/** By path from the root of the repository. */
export const brunoRequests: Readonly<Record<string, () => string>> = Object.fromEntries(
  liveMethods.map((method, index) => [
    `examples/bruno/reference/${method.replace('service.', '').replace('.', '-')}.bru`,
    () => requestOf(method, index + 1),
  ]),
)

function requestOf(method: LiveMethod, place: number): string {
  const { title, about } = operations[method]
  return `meta {
  name: ${title}
  type: http
  seq: ${place}
}

post {
  url: {{gatewayUrl}}${gatewayPath}
  body: json
  auth: none
}

headers {
  x-method: ${method}
}

body:json {
${indented(JSON.stringify(withVariables(exampleOf(method).body), undefined, 2))}
}

docs {
${indented(about)}
}
`
}

/** What the other requests of the collection leave behind, and the times of now. */
const variables: Readonly<Record<string, string>> = {
  paymentId: '{{paymentId}}',
  orderNo: 'bruno-{{now}}',
  referRefundNo: 'bruno-{{now}}',
  linkNo: 'bruno-{{now}}',
  paymentTime: '{{now}}',
  paymentExpiryTime: '{{expiry}}',
}

function withVariables(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withVariables)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, variables[name] ?? withVariables(inner)]),
  )
}

function indented(text: string): string {
  return text.replace(/^/gm, '  ')
}
