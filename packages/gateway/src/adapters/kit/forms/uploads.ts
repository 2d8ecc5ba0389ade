// Forms with a chosen file. Their routes accept multipart/form-data and read it only once the session is known: the token of
// the form is its first part, and nothing behind a wrong token is read.
import { Readable } from 'node:stream'
import { Failure } from '@tillgate/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refuseNulIn } from '../../../platform/http/nul.ts'
import { readForm } from '../requests.ts'
import { readParts } from './multipart.ts'
import { multipartType } from './refuse-multipart.ts'

/** Of a file that comes over the network and is held in memory; what is larger comes by the command line. */
export const maxFileBytes = 16 * 1024 * 1024
/** No form of ours has half as many fields. */
const maxParts = 32
const maxFieldBytes = 32 * 1024

export interface SentFile {
  /** Of a file that is too large, its beginning. */
  readonly chunks: readonly Uint8Array[]
  readonly isTooLarge: boolean
}

export interface SentForm {
  readonly fields: URLSearchParams
  /** By the names of their fields. Where no file was chosen there is none. */
  readonly files: ReadonlyMap<string, SentFile>
}

/** The routes of the listener, which say `acceptsMultipart`, get the body as a stream that nobody has read. */
export function acceptUploads(listener: FastifyInstance): void {
  listener.addContentTypeParser(multipartType, (_request, stream, done) => done(null, stream))
}

/** Reads what a form sent. Undefined: its token is wrong, and nothing behind it was read. */
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
    for await (const { name, isFile, content, isTooLarge } of parts) {
      const text = isFile ? '' : Buffer.concat(content).toString()
      if (fields.size === 0 && !(name === 'token' && isRightToken(text))) return undefined
      refuseNulIn(name + text)
      if (!isFile) fields.append(name, text)
      else if (content.length > 0) files.set(name, { chunks: content, isTooLarge })
    }
    return { fields, files }
  } finally {
    // What is left is dropped as it comes, so that the connection is free for the next request.
    await chunks.return?.()
    body.resume()
  }
}

/**
 * A file that is the body itself, read only once it is known who sends it. Of one that is too large some more is read and
 * dropped, because most clients read an answer only when all is sent, and the next request comes on the same connection.
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
    message: `The file is larger than ${mebibytes} MiB. Import it by tillgate reconcile import.`,
  })
}
