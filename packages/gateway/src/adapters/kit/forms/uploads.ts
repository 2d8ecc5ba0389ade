// Forms with a file. Their routes accept multipart/form-data and read it only after the session is known. The form's
// token is the first part, and nothing after a wrong token is read.
import { Readable } from 'node:stream'
import { Failure } from '@tillgate/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refuseNulIn } from '../../../platform/http/refuse-nul.ts'
import { readForm } from '../requests.ts'
import { readParts } from './multipart.ts'
import { multipartType } from './refuse-multipart.ts'

/** Files sent over HTTP are held in memory. Larger files are imported by the command line. */
export const maxFileBytes = 16 * 1024 * 1024
/** More than twice the fields of our largest form. */
const maxParts = 32
const maxFieldBytes = 32 * 1024

export interface SentFile {
  readonly fileName: string
  /** Only the beginning of a file that is too large. */
  readonly chunks: readonly Uint8Array[]
  readonly isTooLarge: boolean
}

export interface SentForm {
  readonly fields: URLSearchParams
  /** By field name; without an entry if no file was chosen. */
  readonly files: ReadonlyMap<string, SentFile>
}

/** Gives the listener's routes with `acceptsMultipart` the body as an unread stream. */
export function acceptUploads(listener: FastifyInstance): void {
  listener.addContentTypeParser(multipartType, (_request, stream, done) => done(null, stream))
}

/** Returns the content of a form. Undefined if its token is wrong; nothing after it was read. */
export async function readSentForm(
  { body, headers }: FastifyRequest,
  {
    isRightToken,
    fileBytes,
  }: { readonly isRightToken: (token: string) => boolean; readonly fileBytes: number },
): Promise<SentForm | undefined> {
  if (!(body instanceof Readable)) {
    const fields = readForm(body)
    return isRightToken(fields.get('token') ?? '') ? { fields, files: new Map() } : undefined
  }
  const chunks = body.iterator({ destroyOnReturn: false })
  try {
    const parts = readParts(chunks, headers['content-type'] ?? '', {
      parts: maxParts,
      fieldBytes: maxFieldBytes,
      fileBytes,
    })
    const fields = new URLSearchParams()
    const files = new Map<string, SentFile>()
    for await (const { name, isFile, fileName, content, isTooLarge } of parts) {
      const text = isFile ? '' : Buffer.concat(content).toString()
      if (fields.size === 0 && !(name === 'token' && isRightToken(text))) return undefined
      refuseNulIn(name + fileName + text)
      if (!isFile) fields.append(name, text)
      else if (content.length > 0) files.set(name, { fileName, chunks: content, isTooLarge })
    }
    return { fields, files }
  } finally {
    // The rest is dropped, so that the connection is free for the next request.
    await chunks.return?.()
    body.resume()
  }
}

/**
 * A file that is the whole body, read after the sender is authenticated. More of a file that is too large is read and
 * dropped, because most clients read a response only after sending everything, and the next request uses the same
 * connection.
 */
export async function collect(stream: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes <= maxBytes) chunks.push(chunk)
    else if (bytes > maxBytes + maxDroppedBytes) throw tooLargeFile(maxBytes)
    else chunks.length = 0
  }
  if (bytes > maxBytes) throw tooLargeFile(maxBytes)
  return chunks
}

const maxDroppedBytes = 256 * 1024 * 1024

export function tooLargeFile(maxBytes: number): Failure {
  const mebibytes = Math.floor(maxBytes / 2 ** 20)
  return new Failure('too_large', {
    message: `The file is larger than ${mebibytes} MiB. Use “tillgate reconcile import”.`,
  })
}
