import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fastify } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import { makeControl } from '../../../test/support/admission.ts'
import { systemClock } from '../../platform/runtime/clock.ts'
import { makeDownloads } from '../kit/downloads.ts'
import { apiPrefix } from './api.ts'
import { makeOpenApi, operationIdOf } from './openapi.ts'
import { apiRoutes } from './routes.ts'
import { serveAdminApi } from './serve.ts'

interface Operation {
  readonly operationId: string
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: TSchema }[]
  readonly requestBody?: { content: { 'application/json': { schema: TSchema } } }
  readonly responses: Record<string, { content: Record<string, { schema: TSchema & { $ref?: string } }> }>
}

// The document as programs read it.
const document = JSON.parse(JSON.stringify(makeOpenApi())) as ReturnType<typeof makeOpenApi>
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    operation: operation as unknown as Operation,
  })),
)

test('every route is described, and every described route is served', async () => {
  const served: string[] = []
  const listener = fastify()
  listener.addHook('onRoute', ({ method, url }) => {
    if (url.startsWith(apiPrefix) && method !== 'HEAD')
      served.push(`${method} ${url.replace(/:(\w+)/g, '{$1}')}`)
  })
  serveAdminApi(listener, {
    mode: 'sandbox',
    clock: systemClock,
    admission: makeControl().admission,
    downloads: makeDownloads(systemClock),
    secondStepRoles: [],
    running: () => assert.fail('it is never called'),
    routes: apiRoutes,
  })
  await listener.ready()
  assert.deepEqual(served.toSorted(), operations.map(({ name }) => name).toSorted())
  await listener.close()
})

test('the document is complete: unique ids, declared path parameters, valid references', () => {
  assert.match(document.openapi, /^3\.1\.\d+$/)
  const ids = operations.map(({ operation }) => operation.operationId)
  assert.equal(new Set(ids).size, ids.length)
  for (const { name, path, operation } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
    const declared = operation.parameters.filter((parameter) => parameter.in === 'path')
    assert.deepEqual(
      declared.map((parameter) => parameter.name),
      inPath,
      name,
    )
    assert(
      declared.every(({ required }) => required),
      name,
    )
    const statuses = Object.keys(operation.responses).filter((status) => status !== '202')
    assert.deepEqual(statuses, ['200', 'default'], name)
    const failure = operation.responses['default']?.content['application/json']?.schema.$ref
    assert.equal(failure, '#/components/schemas/Failure', name)
  }
  assert(document.components.schemas.Failure)
  assert.doesNotMatch(JSON.stringify(document), /"expected"/)
})

test('every schema of the document compiles', () => {
  for (const { operation } of operations) {
    const schemas = [
      ...operation.parameters.map(({ schema }) => schema),
      ...Object.values(operation.responses).flatMap(({ content }) =>
        Object.values(content).map(({ schema }) => schema),
      ),
      ...Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema),
    ].filter((schema) => !('$ref' in schema))
    for (const schema of schemas) assert.equal(Compile(schema).Check(Symbol('nothing')), false)
  }
})

/**
 * Each of these happens once by its target: money held for an attempt is returned once, by the attempt's status; a
 * bank's entry counts once by its reference; a refund and a payout end once; a schedule has one run per day and
 * currency.
 */
const onceByWhatTheyName = new Set([
  ...['rail.return-late-money', 'transfer.confirm', 'transfer.return', 'transfer.settle-refund'],
  ...['payout-plan.set', 'payout-run.start', 'payout-run.send', 'payout-run.paid', 'payout-run.cancel'],
  ...['payout.paid', 'payout.return', 'payout.cancel', 'reconcile.confirm', 'reconcile.write-off'],
])

/** Actions that create a secret shown once, replace one, or create a merchant. */
const makesSecrets = new Set(['merchant.add', 'endpoint.rotate-secret', 'rail.rotate-secret'])

test('only actions that move money or create secrets require an Idempotency-Key', () => {
  const once = operations.filter(({ operation }) =>
    operation.parameters.some(({ name, required }) => name === 'Idempotency-Key' && required),
  )
  assert.deepEqual(
    once.map(({ operation }) => operation.operationId),
    apiRoutes
      .filter(({ scope, name }) => scope === 'money:move' || makesSecrets.has(name))
      .filter(({ name }) => !onceByWhatTheyName.has(name))
      .map(operationIdOf),
  )
})
