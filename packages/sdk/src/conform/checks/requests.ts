// Clauses 2.1, 2.2, 5 and 7: the envelopes, their signature and encryption, and rejections.

import type { Check } from '../clauses.ts'
import { codeOf, dataOf, expectRefusal, gatewayPath, isObject, readObject, strangeKeys } from '../gateway.ts'
import { expect, shown } from '../outcome.ts'
import { create, query, type World } from '../world.ts'

/** A rejection proves something only if the same request is accepted without the error in it. */
const refusesOrder = async ({ gateway, newBody }: World, what: string, sending: object) =>
  gateway.refuses(what, create, newBody(), sending)

const required = ['merchantId', 'method', 'sign', 'timestamp', 'body']
const closedFields = { format: 'xml', charset: 'gbk', encryptType: 'DES', signType: 'MD5' }

export const requestChecks: readonly Check[] = [
  {
    clause: '2.1',
    title: 'an envelope without its optional fields is accepted',
    async run({ gateway, newBody }) {
      const changed = { format: undefined, charset: undefined, encryptType: undefined, signType: undefined }
      await gateway.call(create, newBody(), { changed })
    },
  },
  {
    clause: '2.1',
    title: 'an envelope with its optional fields is accepted',
    run: async ({ gateway, newBody }) => void (await gateway.call(create, newBody())),
  },
  ...required.map((field) => ({
    clause: '2.1' as const,
    title: `an envelope without ${field} is refused`,
    run: (world: World) =>
      refusesOrder(world, `an envelope without ${field}`, { changed: { [field]: undefined } }),
  })),
  ...Object.entries(closedFields).map(([field, value]) => ({
    clause: '2.1' as const,
    title: `${field} ${value} is refused`,
    run: (world: World) => refusesOrder(world, `${field} ${value}`, { fields: { [field]: value } }),
  })),
  {
    clause: '2.1',
    title: 'a method that is none of the operations is refused',
    run: ({ gateway, newBody }) =>
      gateway.refuses('the method service.trade.nothing', 'service.trade.nothing', newBody()),
  },
  {
    clause: '2.2',
    title: 'a success has code, msg and data',
    async run({ gateway, newBody }) {
      const { json } = await gateway.send(create, newBody())
      expect(json && isObject(json['data']), `data is ${shown(json?.['data'])}`)
      expect(json && codeOf(json) === 20000, `code is ${shown(json?.['code'])}`)
      expect(json['msg'] === 'SUCCESS', `msg is ${shown(json['msg'])}`)
    },
  },
  {
    clause: '2.2',
    title: 'a refusal has code and msg',
    async run({ gateway }) {
      const { json, text } = await gateway.send(create, {})
      expect(json, `the answer is not a JSON object: ${shown(text)}`)
      expect(Number.isInteger(codeOf(json)), `code is ${shown(json['code'])}`)
      expect(typeof json['msg'] === 'string', `msg is ${shown(json['msg'])}`)
    },
  },
  {
    clause: '5.1',
    title: 'a request needs no header for authentication',
    run: async ({ gateway, newBody }) => void (await gateway.call(create, newBody())),
  },
  {
    clause: '5.1',
    title: 'a request that another key signed is refused',
    run: (world) =>
      refusesOrder(world, 'a signature by another key', { privateKey: strangeKeys().privateKey }),
  },
  {
    clause: '5.1',
    title: 'a request whose timestamp was changed after signing is refused',
    run: (world) =>
      refusesOrder(world, 'a timestamp changed after signing', {
        timestamp: world.gateway.now(),
        changed: { timestamp: world.gateway.now() - 1_000 },
      }),
  },
  {
    clause: '5.1',
    title: 'a request for another merchantId than the one that signed it is refused',
    run: (world) =>
      refusesOrder(world, 'a foreign merchantId', { changed: { merchantId: '000000000000000000' } }),
  },
  {
    clause: '5.2',
    title: 'a body that another AES key encrypted is refused',
    run: (world) => refusesOrder(world, 'a body under another key', { aesKey: strangeKeys().aesKey }),
  },
  {
    clause: '5.2',
    title: 'a body that is not encrypted is refused',
    run: (world) => refusesOrder(world, 'a plain body', { isPlain: true }),
  },
  {
    clause: '5.3',
    title: 'a signature over the encrypted body is refused: it is computed before encryption',
    run: (world) =>
      refusesOrder(world, 'a signature over the encrypted body', {
        signedBody: (_plain: string, encrypted: string) => encrypted,
      }),
  },
  {
    clause: '5.3',
    title: 'a body with text in any language is accepted as it was signed',
    async run({ gateway, newBody }) {
      const body = newBody()
      const goods = [{ ...body.order.goods[0], goodsName: 'Grüner Tee 茶 🍵 & <b>=</b>' }]
      await gateway.call(create, { ...body, order: { ...body.order, goods } })
    },
  },
  {
    clause: '5.5',
    title: 'an answer is readable without decryption',
    async run({ gateway, newBody }) {
      const { text } = await gateway.send(create, newBody())
      expect(isObject(readObject(text)?.['data']), `data is not a plain object: ${shown(text)}`)
    },
  },
  {
    clause: '7.1',
    title: 'a success is HTTP 200 with code 20000 and msg SUCCESS',
    async run({ gateway, newBody }) {
      const answer = await gateway.send(create, newBody())
      dataOf(answer, 'create')
      expect(answer.httpStatus === 200, `HTTP ${answer.httpStatus} instead of 200`)
      expect(answer.json?.['msg'] === 'SUCCESS', `msg is ${shown(answer.json?.['msg'])}`)
    },
  },
  {
    clause: '7.2',
    title: 'a refusal says in code and msg what is wrong',
    async run({ gateway }) {
      for (const answer of [
        await gateway.send(create, {}),
        await gateway.send(query, { paymentId: 'P0' }),
        await gateway.post(gatewayPath, 'this is not JSON'),
      ]) {
        expectRefusal(answer, 'a wrong request')
        const { code, msg } = answer.json ?? {}
        expect(Number.isInteger(Number(code)), `code is ${shown(code)}`)
        expect(typeof msg === 'string' && msg !== '' && msg !== 'SUCCESS', `msg is ${shown(msg)}`)
      }
    },
  },
]
