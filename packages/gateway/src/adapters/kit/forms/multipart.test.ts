import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Part, type PartLimits, readParts } from './multipart.ts'

const limits: PartLimits = { parts: 8, fieldBytes: 1_000, fileBytes: 10_000 }

/** Node.js encodes forms as browsers do. */
async function written(form: FormData): Promise<{ body: Buffer; type: string }> {
  const response = new Response(form)
  return {
    body: Buffer.from(await response.arrayBuffer()),
    type: response.headers.get('content-type') ?? '',
  }
}

async function* inPieces(body: Buffer, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += length) yield body.subarray(at, at + length)
}

async function partsOf(body: Buffer, type: string, pieceLength = body.length): Promise<Part[]> {
  const parts: Part[] = []
  for await (const part of readParts(inPieces(body, pieceLength), type, limits)) parts.push(part)
  return parts
}

function textOf({ content }: Part): string {
  return Buffer.concat(content).toString('latin1')
}

test('a browser’s form is parsed, however it is split into chunks', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    // Text that looks like the start of a delimiter.
    fc.constantFrom('\r\n', '\r\n--', '\r\n------formdata', '--', '\r').map((text) => Buffer.from(text)),
  )
  const name = fc.stringMatching(/^[a-zA-Z]{1,12}$/)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ name, isFile: fc.boolean(), bytes }), { maxLength: 6 }),
      fc.integer({ min: 1, max: 200 }),
      async (given, pieceLength) => {
        const form = new FormData()
        for (const { name, isFile, bytes } of given)
          if (isFile) form.append(name, new Blob([Uint8Array.from(bytes)]), 'a "file".bin')
          else form.append(name, Buffer.from(bytes).toString('base64'))
        const { body, type } = await written(form)
        const read = await partsOf(body, type, pieceLength)
        assert.deepEqual(
          read.map((part) => ({ ...part, content: undefined, isTooLarge: undefined, text: textOf(part) })),
          given.map(({ name, isFile, bytes }) => ({
            name,
            isFile,
            fileName: isFile ? 'a "file".bin' : '',
            content: undefined,
            isTooLarge: undefined,
            text: Buffer.from(bytes).toString(isFile ? 'latin1' : 'base64'),
          })),
        )
      },
    ),
    { numRuns: 200 },
  )
})

test('reading stops after the requested part', async () => {
  const form = new FormData()
  form.append('token', 'x')
  form.append('file', new Blob(['y'.repeat(9_000)]), 'file')
  const { body, type } = await written(form)
  let pieces = 0
  const counted = async function* () {
    for await (const piece of inPieces(body, 100)) {
      pieces++
      yield piece
    }
  }
  const parts = readParts(counted(), type, limits)
  assert.equal((await parts.next()).value?.name, 'token')
  assert(pieces <= 3, `${pieces} pieces were read`)
})

test('a file over the limit is cut off there, and the parts after it are read', async () => {
  for (const length of [10_000, 10_001, 100_000]) {
    const form = new FormData()
    form.append('file', new Blob(['y'.repeat(length)]), 'file')
    form.append('reason', 'x')
    const { body, type } = await written(form)
    const [file, reason] = await partsOf(body, type, 1_000)
    assert(file && reason)
    assert.deepEqual([textOf(file).length, file.isTooLarge], [10_000, length > 10_000])
    assert.equal(textOf(reason), 'x')
  }
})

test('a form with too many parts or too much text is rejected', async () => {
  const many = new FormData()
  for (let at = 0; at < 9; at++) many.append('field', 'x')
  const long = new FormData()
  for (const length of [500, 501]) long.append('field', 'x'.repeat(length))
  for (const [form, expected] of [
    [many, /more than 8 parts/],
    [long, /a part is too large/],
  ] as const) {
    const { body, type } = await written(form)
    await assert.rejects(partsOf(body, type), { failure: 'malformed_envelope', message: expected })
  }
})

test('a body that is not multipart is rejected', async () => {
  const type = 'multipart/form-data; boundary=b'
  const head = 'content-disposition: form-data; name="a"'
  for (const [body, given] of [
    ['', type],
    ['a=b', type],
    ['--b', type],
    ['--b\r\n', type],
    [`--b\r\n${head}\r\n\r\nx`, type],
    [`--b\r\n${head}\r\n\r\nx\r\n--bb`, type],
    ['--b\r\nx: y\r\n\r\nx\r\n--b--', type],
    [`--b\r\n${' '.repeat(3_000)}\r\n\r\nx\r\n--b--`, type],
    [`junk\r\n--b\r\n${head}\r\n\r\nx\r\n--b--`, type],
    [`--b\r\n${head}\r\n\r\nx\r\n--b--`, 'multipart/form-data'],
    [`--b\r\n${head}\r\n\r\nx\r\n--b--`, `multipart/form-data; boundary=${'b'.repeat(71)}`],
  ] as const)
    await assert.rejects(partsOf(Buffer.from(body), given), { failure: 'malformed_envelope' }, body)
  const [part] = await partsOf(
    Buffer.from(`--b\r\n${head}\r\n\r\nx\r\n--b--`),
    'multipart/form-data; boundary="b"',
  )
  assert.deepEqual([part?.name, part && textOf(part)], ['a', 'x'])
})
