import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { Failure } from '@tillgate/protocol'
import { unpacked } from './unpack.ts'

const text = Buffer.from(':20:STARTUMS\r\n'.repeat(50))

async function read(bytes: Uint8Array, pieceBytes = 7): Promise<Buffer> {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  const all: Uint8Array[] = []
  for await (const piece of unpacked(pieces())) all.push(piece)
  return Buffer.concat(all)
}

const refusedFor = (why: RegExp) => (error: unknown) =>
  error instanceof Failure && error.field === 'file' && why.test(error.message)

function zip(files: Readonly<Record<string, Buffer>>, { method = 8, flags = 0 } = {}): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [name, content] of Object.entries(files)) {
    const packed = method === 8 ? deflateRawSync(content) : content
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(name.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(flags, 8)
    entry.writeUInt16LE(method, 10)
    entry.writeUInt32LE(packed.length, 20)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(at, 42)
    parts.push(local, Buffer.from(name), packed)
    directory.push(entry, Buffer.from(name))
    at += local.length + name.length + packed.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, ...directory, end])
}

test('a plain file passes unchanged, wherever it is split, as does an empty file', async () => {
  assert.deepEqual(await read(text), text)
  assert.deepEqual(await read(text, 1), text)
  assert.equal((await read(Buffer.alloc(0))).length, 0)
})

test('gzip is unpacked, and a damaged or truncated file is rejected', async () => {
  assert.deepEqual(await read(gzipSync(text), 3), text)
  await assert.rejects(read(gzipSync(text).subarray(0, 30)), refusedFor(/gzip data is damaged or cut off/))
})

test('a spreadsheet is rejected by name', async () => {
  const sheet = zip({ '[Content_Types].xml': text, 'xl/workbook.xml': text })
  await assert.rejects(read(sheet), refusedFor(/it is a spreadsheet\. Save it as CSV\./))
})

test('a ZIP archive with one file is unpacked, stored or deflated, ignoring folders and macOS metadata', async () => {
  assert.deepEqual(await read(zip({ 'a.sta': text })), text)
  assert.deepEqual(await read(zip({ 'a.sta': text }, { method: 0 })), text)
  const more = { 'folder/': Buffer.alloc(0), 'folder/a.sta': text, '__MACOSX/._a.sta': text }
  assert.deepEqual(await read(zip(more)), text)
})

test('archives with several files, or that are encrypted, damaged or compressed in another way, are rejected', async () => {
  await assert.rejects(read(zip({ a: text, b: text })), refusedFor(/has 2 files\. Import each/))
  await assert.rejects(read(zip({ a: text }, { flags: 1 })), refusedFor(/encrypted/))
  await assert.rejects(read(zip({ a: text }, { method: 12 })), refusedFor(/in a way that is not read/))
  await assert.rejects(read(zip({ a: text }).subarray(0, 60)), refusedFor(/damaged or cut off/))
})

test('a file that expands beyond the limit is rejected before it fills the memory', async () => {
  const bomb = Buffer.alloc(64 * 1024 * 1024)
  await assert.rejects(read(gzipSync(bomb), 4096), refusedFor(/more than the allowed size/))
  await assert.rejects(read(zip({ a: bomb }), 4096), refusedFor(/more than the allowed size/))
})
