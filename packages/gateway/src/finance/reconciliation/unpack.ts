// Unpacks a statement file from gzip or a ZIP archive with one file. The output is limited, so that a small file
// cannot exhaust memory or the processor.
import { createGunzip, inflateRawSync } from 'node:zlib'
import { Failure } from '@tillgate/protocol'

export interface UnpackLimits {
  readonly unpackedBytes: number
  /** A ZIP archive is held in memory. */
  readonly archiveBytes: number
  /** The maximum ratio. Statements compress 10 to 40 times. */
  readonly ratio: number
}

const usualLimits: UnpackLimits = {
  unpackedBytes: 512 * 1024 * 1024,
  archiveBytes: 16 * 1024 * 1024,
  ratio: 200,
}
/** Small output is harmless at any ratio. */
const harmlessBytes = 1024 * 1024

/** Passes uncompressed files through. */
export async function* unpacked(
  pieces: AsyncIterable<Uint8Array>,
  limits: UnpackLimits = usualLimits,
): AsyncGenerator<Uint8Array> {
  const begun = await begin(pieces)
  const [first = 0, second = 0, third = 0, fourth = 0] = begun.head
  if (first === 0x1f && second === 0x8b) yield* gunzipped(begun.all(), limits)
  else if (first === 0x50 && second === 0x4b && third === 0x03 && fourth === 0x04)
    yield unzipped(await joined(begun.all(), limits.archiveBytes), limits)
  else yield* begun.all()
}

const headBytes = 4

async function begin(pieces: AsyncIterable<Uint8Array>) {
  const iterator = pieces[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  let isAtEnd = false
  while (head.length < headBytes && !isAtEnd) {
    const { value, done } = await iterator.next()
    if (done) isAtEnd = true
    else head = Buffer.concat([head, value])
  }
  return {
    head,
    async *all(): AsyncGenerator<Uint8Array> {
      if (head.length > 0) yield head
      while (!isAtEnd) {
        const { value, done } = await iterator.next()
        if (done) return
        yield value
      }
    },
  }
}

async function* gunzipped(
  pieces: AsyncIterable<Uint8Array>,
  limits: UnpackLimits,
): AsyncGenerator<Uint8Array> {
  let [readBytes, madeBytes] = [0, 0]
  async function* counted() {
    for await (const piece of pieces) {
      readBytes += piece.length
      yield piece
    }
  }
  const gunzip = createGunzip()
  const feeding = feed(counted(), gunzip)
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      madeBytes += piece.length
      checkSize(madeBytes, readBytes, limits)
      yield piece
    }
    await feeding
  } catch (error) {
    throw error instanceof Failure ? error : refused('its gzip data is damaged or cut off')
  } finally {
    gunzip.destroy()
  }
}

/** Errors surface where the stream is read. */
async function feed(
  pieces: AsyncIterable<Uint8Array>,
  gunzip: ReturnType<typeof createGunzip>,
): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (gunzip.destroyed) return
      if (!gunzip.write(piece))
        await new Promise<void>((resolve) => {
          gunzip.once('drain', resolve).once('close', resolve)
        })
    }
    gunzip.end()
  } catch (error) {
    gunzip.destroy(error as Error)
  }
}

async function joined(pieces: AsyncIterable<Uint8Array>, atMost: number): Promise<Buffer> {
  const all: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > atMost)
      throw refused(
        `a ZIP archive may have ${atMost / 1024 / 1024} MiB at most. Unpack it, and import its file`,
      )
    all.push(piece)
  }
  return Buffer.concat(all)
}

interface Entry {
  readonly name: string
  readonly method: number
  readonly packedBytes: number
  readonly at: number
}

/** Uses the central directory (APPNOTE 6.3, sections 4.3.12 and 4.3.16). */
function unzipped(archive: Buffer, limits: UnpackLimits): Buffer {
  try {
    const entries = entriesOf(archive)
    const [entry] = entries
    if (entries.some(({ name }) => name === 'xl/workbook.xml'))
      throw refused('it is a spreadsheet. Save it as CSV')
    if (!entry || entries.length > 1)
      throw refused(`the ZIP archive has ${entries.length} files. Import each of them on its own`)
    const { method, packedBytes, at } = entry
    const from = at + 30 + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28)
    const packed = archive.subarray(from, from + packedBytes)
    if (method === 0) return packed
    if (method !== 8) throw refused('the ZIP archive is compressed in a way that is not read. Unpack it')
    const maxOutputLength = Math.min(
      limits.unpackedBytes,
      Math.max(harmlessBytes, packedBytes * limits.ratio),
    )
    return inflateRawSync(packed, { maxOutputLength })
  } catch (error) {
    if (error instanceof Failure) throw error
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw tooMuch()
    throw refused('the ZIP archive is damaged or cut off')
  }
}

const endMark = 0x06054b50
const entryMark = 0x02014b50

function entriesOf(archive: Buffer): Entry[] {
  let end = archive.length - 22
  const oldest = Math.max(0, end - 65_535)
  while (end > oldest && archive.readUInt32LE(end) !== endMark) end--
  if (end < 0 || archive.readUInt32LE(end) !== endMark) throw new Error('no directory')
  const count = archive.readUInt16LE(end + 10)
  let at = archive.readUInt32LE(end + 16)
  const entries: Entry[] = []
  for (let index = 0; index < count; index++) {
    if (archive.readUInt32LE(at) !== entryMark) throw new Error('no entry')
    const nameBytes = archive.readUInt16LE(at + 28)
    const name = archive.toString('latin1', at + 46, at + 46 + nameBytes)
    if ((archive.readUInt16LE(at + 8) & 1) === 1) throw refused('the ZIP archive is encrypted. Unpack it')
    // Skips folders and the files that macOS adds.
    if (!name.endsWith('/') && !name.startsWith('__MACOSX/'))
      entries.push({
        name,
        method: archive.readUInt16LE(at + 10),
        packedBytes: archive.readUInt32LE(at + 20),
        at: archive.readUInt32LE(at + 42),
      })
    at += 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
  return entries
}

function checkSize(madeBytes: number, readBytes: number, { unpackedBytes, ratio }: UnpackLimits): void {
  if (madeBytes > unpackedBytes || madeBytes > Math.max(harmlessBytes, readBytes * ratio)) throw tooMuch()
}

function tooMuch(): Failure {
  return refused('it expands to more than the allowed size')
}

function refused(why: string): Failure {
  return new Failure('invalid_field', { field: 'file', message: `The file cannot be read: ${why}.` })
}
