// The merchant API: envelopes in, answers out. What is cheap is checked first, so that junk costs us little:
// room, address, content type, size, shape and path; only then cryptography, and only then the database.
import {
  Failure,
  gatewayPath,
  isMethod,
  type Method,
  methods,
  parseRequestEnvelope,
  pathPrefix,
  successAnswer,
} from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Merchant } from '../domain/merchant.ts'
import type { OpenRequest } from '../operations/open-request.ts'
import type { ApiLimits } from './api-limits.ts'

/** What a method does, given who asks and the plain body. */
export type Operation = (merchant: Merchant, body: string) => Promise<object>
export type Operations = Partial<Record<Method, Operation>>

export interface MerchantApi {
  readonly openRequest: OpenRequest
  readonly operations: Operations
}

export interface MerchantApiParts {
  /** Throws while the gateway is still starting. */
  readonly api: () => MerchantApi
  readonly limits: ApiLimits
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Counted by operation and code. */
    isMerchantApi?: boolean
  }
}

const apiRoute = { config: { isMerchantApi: true } } as const

export function serveMerchantApi(listener: FastifyInstance, parts: MerchantApiParts): void {
  listener.register(async (api) => {
    api.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) =>
      done(null, text),
    )
    api.addHook('onRequest', (request, _reply, done) => {
      // The request closes when it was read to its end, or when its connection is gone.
      request.raw.once('close', parts.limits.admit(request.ip))
      done()
    })
    for (const prefix of ['', pathPrefix]) {
      api.post(prefix + gatewayPath, apiRoute, (request, reply) => answer(request, reply, undefined))
      for (const [method, { path }] of Object.entries(methods)) {
        if (path !== gatewayPath) {
          api.post(prefix + path, apiRoute, (request, reply) => answer(request, reply, method))
        }
      }
    }
  })

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    pathMethod: string | undefined,
  ): Promise<FastifyReply> {
    const done = parts.limits.begin(request.ip)
    try {
      return reply.send(successAnswer(await carryOut(request, pathMethod)))
    } finally {
      done()
    }
  }

  async function carryOut(request: FastifyRequest, pathMethod: string | undefined): Promise<object> {
    if (typeof request.body !== 'string') throw new Failure('not_json')
    const envelope = parseRequestEnvelope(request.body)
    const { openRequest, operations } = parts.api()
    const operation = operationOf(operations, { method: envelope.method, pathMethod })
    request.operation = envelope.method
    const opened = await openRequest(envelope)
    if (!opened) {
      parts.limits.noteJunk(request.ip)
      throw new Failure('envelope_not_opened')
    }
    const { merchant, body } = opened
    parts.limits.charge(merchant)
    if (merchant.status === 'suspended') throw new Failure('merchant_suspended')
    return operation(merchant, body)
  }
}

function operationOf(
  operations: Operations,
  { method, pathMethod }: { method: string; pathMethod: string | undefined },
): Operation {
  const operation = isMethod(method) ? operations[method] : undefined
  if (!operation)
    throw new Failure('no_such_operation', { field: 'method', message: `There is no method ${method}.` })
  if (pathMethod !== undefined && method !== pathMethod) {
    throw new Failure('no_such_operation', {
      field: 'method',
      message: `This path serves ${pathMethod}; send ${method} to its own path or to ${gatewayPath}.`,
    })
  }
  return operation
}
