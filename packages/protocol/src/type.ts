// The schema builders for messages: typebox's own types over plain JSON schemas. The library's builders load 300 files
// of unused type algebra, a fifth of everything that a gateway loads before it can serve. A test checks that these
// build the same schemas.
import type Typebox from 'typebox'
import type { TSchema } from 'typebox'

type Makers = Pick<
  typeof Typebox,
  'Array' | 'Boolean' | 'Integer' | 'Object' | 'Optional' | 'Refine' | 'String' | 'Unsafe'
>

type Marks = Readonly<Record<`~${string}`, unknown>>

const makers = {
  Array: (items: TSchema, options: object = {}) =>
    marked({ type: 'array', items, ...options }, { '~kind': 'Array' }),
  Boolean: (options: object = {}) => marked({ type: 'boolean', ...options }, { '~kind': 'Boolean' }),
  Integer: (options: object = {}) => marked({ type: 'integer', ...options }, { '~kind': 'Integer' }),
  String: (options: object = {}) => marked({ type: 'string', ...options }, { '~kind': 'String' }),
  Object(properties: Readonly<Record<string, object>>, options: object = {}) {
    const required = Object.keys(properties).filter((name) => !('~optional' in (properties[name] ?? {})))
    return marked(
      { type: 'object', ...(required.length > 0 && { required }), properties, ...options },
      { '~kind': 'Object' },
    )
  },
  Optional: (schema: TSchema) => marked(schema, { '~optional': true }),
  Unsafe: (schema: TSchema) => marked(schema, { '~unsafe': null }),
  Refine: (schema: TSchema, check: (value: never) => boolean) =>
    marked(schema, { '~refine': [{ check, error: () => 'Refine Error' }] }),
}

/** Safe: the results are identical to the library's, marks included. */
export const Type = makers as unknown as Makers

/** A copy with marks that the validator sees and JSON does not. */
function marked(schema: object, marks: Marks): object {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema))
  for (const [name, value] of Object.entries(marks))
    Object.defineProperty(copy, name, { value, enumerable: false, configurable: true, writable: true })
  return copy
}
