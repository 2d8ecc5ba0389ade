import assert from 'node:assert/strict'
import { test } from 'node:test'
import en from '../../../locales/portal/en.json' with { type: 'json' }
import { catalog } from '../../actions/catalog.ts'

test('every action screen and every field on it has texts', () => {
  for (const { portal, input } of catalog)
    for (const { name, fields, hidden = [], fixed = {} } of portal) {
      assert.ok(Object.hasOwn(en.acts, name), name)
      const shown =
        fields ??
        Object.keys(input?.properties ?? {}).filter((each) => !hidden.includes(each) && !(each in fixed))
      for (const field of shown) assert.ok(Object.hasOwn(en.fields, field), `${name}: ${field}`)
    }
})
