import assert from 'node:assert/strict'
import { test } from 'node:test'
import Typebox from 'typebox'
import { Type } from './type.ts'

const isShort = (value: string) => value.length < 3

/** One schema with everything that a message may contain. */
function everything(make: typeof Type) {
  const short = make.Refine(make.String({ description: 'short' }), isShort)
  return make.Object(
    {
      short,
      maybe: make.Optional(short),
      amount: make.Unsafe<number | string>({ type: ['number', 'string'] }),
      list: make.Optional(make.Array(make.Object({ count: make.Integer({ minimum: 0 }) }), { maxItems: 2 })),
      isThere: make.Boolean(),
      nothing: make.Object({ maybe: make.Optional(make.String()) }),
    },
    { additionalProperties: false },
  )
}

/** Includes hidden members, and functions by their results. */
function laidOpen(value: unknown): unknown {
  if (typeof value === 'function') return [value('a'), value.length]
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(Object.getOwnPropertyDescriptors(value)).map(([name, { value: member, ...kind }]) => [
    name,
    kind,
    laidOpen(member),
  ])
}

test('schemas equal those of the library’s own functions, including hidden markers', () => {
  assert.deepEqual(laidOpen(everything(Type)), laidOpen(everything(Typebox)))
})

test('making a schema optional or refining it creates another schema', () => {
  const text = Type.String()
  assert.notEqual(Type.Optional(text), text)
  assert.deepEqual(Type.Object({ text, maybe: Type.Optional(text) }).required, ['text'])
})
