import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { refusedTexts } from '../../test/json-test-suite.ts'
import { maxEnvelopeBytes, maxEnvelopeMarks } from '../limits.ts'
import { explainBrokenJson } from './broken-json.ts'
import { JsonError, readJson } from './json.ts'

function troubleOf(bytes: Buffer): string {
  try {
    readJson(bytes.toString(), { maxMarks: maxEnvelopeMarks })
  } catch (error) {
    if (error instanceof JsonError) return error.message
    throw error
  }
  return 'nothing is wrong'
}

test('each of the 188 invalid texts of JSONTestSuite gets a position and a reason', () => {
  assert.equal(refusedTexts.length, 188)
  const results = refusedTexts.map(([name, bytes]) => [name, bytes, troubleOf(Buffer.from(bytes, 'latin1'))])
  assert.deepEqual(results, refusedTexts)
})

const envelope = '{"merchantId":"123456789012345678","sign":"AAAA"}'

for (const [what, bytes, message] of [
  ['nothing', Buffer.alloc(0), 'it is empty'],
  ['gzip', gzipSync(envelope), 'it is compressed with gzip; send it as it is'],
  ['UTF-16', Buffer.from(envelope, 'utf16le'), 'it is UTF-16; send it as UTF-8'],
  ['UTF-16 with a mark', Buffer.from(`\ufeff${envelope}`, 'utf16le'), 'it is UTF-16; send it as UTF-8'],
  [
    'UTF-16 the other way',
    Buffer.from(`\ufeff${envelope}`, 'utf16le').swap16(),
    'it is UTF-16; send it as UTF-8',
  ],
  [
    'UTF-8 with a mark',
    Buffer.from(`\ufeff${envelope}`),
    'it begins with a byte order mark at position 0; send UTF-8 without one',
  ],
  [
    'a form',
    Buffer.from('merchantId=123456789012345678&method=service.trade.create'),
    'it is a form, name=value; send a JSON object, {"name":"value"}',
  ],
  [
    'a form of several parts',
    Buffer.from('--X1\r\nContent-Disposition: form-data; name="merchantId"\r\n\r\n1\r\n--X1--'),
    'it is a multipart form; send a JSON object',
  ],
  [
    'an object that was never serialised',
    Buffer.from('[object Object]'),
    'it is `[object …]`; send the output of JSON.stringify',
  ],
  [
    'a dictionary as Python prints it',
    Buffer.from("{'merchantId': None}"),
    "`'` is at position 1, where a key in double quotes or } is expected; JSON allows only double quotes",
  ],
  [
    'None',
    Buffer.from('{"callbackUrl": None}'),
    'None is at position 16, where a value is expected; write null',
  ],
  [
    'NaN on the second line',
    Buffer.from('{\n  "paymentAmount": NaN}'),
    'NaN is at position 21 (line 2, column 20), where a value is expected; JSON has no such number',
  ],
  [
    'what was cut off',
    Buffer.from(envelope.slice(0, 20)),
    'it is cut off at position 20, inside the string that begins at position 14',
  ],
] as const) {
  test(`${what} is recognized`, () => assert.equal(troubleOf(bytes), message))
}

/** Enough to complete any text that could become JSON. */
const endings = [
  '',
  '"',
  '\\"',
  '0"',
  '00"',
  '000"',
  '0000"',
  'e',
  'ue',
  'rue',
  'se',
  'lse',
  'alse',
  'l',
  'll',
  'ull',
  '0',
]
const closings = ['', ':0', '0', '"":0', ',"":0']

test('the text before the position is a valid prefix of JSON, the text including the position is not', () => {
  const text = fc.oneof(
    fc.json({ depthSize: 'small' }).chain((json) =>
      fc.tuple(fc.nat(json.length), fc.constantFrom(...'{}[]",:\\0-e.tnx \n'), fc.nat(2)).map(
        // One character is inserted, or replaces one or two.
        ([at, character, gone]) => json.slice(0, at) + character + json.slice(at + gone),
      ),
    ),
    fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0-1e.truefalsn ') }),
  )
  fc.assert(
    fc.property(text, (broken) => {
      if (isJson(broken)) return
      const trouble = explainBrokenJson(broken)
      const [, digits] = /^[^,]* at position (\d+)/.exec(trouble) ?? []
      // A text of a different format has no position.
      if (digits === undefined || trouble.startsWith('it is a form')) return
      const at = Number(digits)
      const isWord = /^[a-z]/.test(broken.slice(at))
      assert(canBecomeJson(broken.slice(0, at)), `${JSON.stringify(broken)}: ${trouble}`)
      if (at < broken.length && !isWord)
        assert(!canBecomeJson(broken.slice(0, at + 1)), `${JSON.stringify(broken)}: ${trouble}`)
    }),
    { numRuns: 1_000 },
  )
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function canBecomeJson(text: string): boolean {
  const brackets = [...text.replace(/"(?:[^"\\]|\\.)*(?:"|\\?$)/g, '')].reduce<string[]>((open, found) => {
    if (found === '{' || found === '[') open.push(found === '{' ? '}' : ']')
    if (found === '}' || found === ']') open.pop()
    return open
  }, [])
  const close = brackets.reverse().join('')
  return endings.some((ending) => closings.some((closing) => isJson(text + ending + closing + close)))
}

test('a second look at the longest text takes a few milliseconds', () => {
  const texts = ['"', '"\\n', '[1,', ' ', '-', '{"a":"'].map((piece) =>
    piece.repeat(maxEnvelopeBytes / piece.length - 1),
  )
  const { user } = process.cpuUsage()
  for (const text of texts) assert.notEqual(troubleOf(Buffer.from(text)), '')
  const spentMs = (process.cpuUsage().user - user) / 1_000
  assert(spentMs < 500, `took ${spentMs} ms`)
})
