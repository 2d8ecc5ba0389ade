// Forms with a chosen file, as the text that `readForm` reads: the file's bytes become base64, an empty choice nothing.
// Node.js parses them (its own fetch does), within the bound of the body.
import { Failure } from '@tillgate/protocol'
import type { FastifyInstance } from 'fastify'

/** Of a file that comes over the network and is held in memory; what is larger comes by the command line. */
export const maxFileBytes = 16 * 1024 * 1024

export function acceptUploads(listener: FastifyInstance, { bodyLimit }: { bodyLimit: number }): void {
  listener.addContentTypeParser(
    /^multipart\/form-data/,
    { parseAs: 'buffer', bodyLimit },
    async (request: { headers: { 'content-type'?: string | undefined } }, body: Buffer) => {
      const type = request.headers['content-type'] ?? ''
      return readUpload(body, type)
    },
  )
}

export async function readUpload(body: Buffer, type: string): Promise<string> {
  const response = new Response(new Uint8Array(body), { headers: { 'content-type': type } })
  const form = await response.formData().catch(() => undefined)
  const fields = new URLSearchParams()
  for (const [name, value] of form ?? []) {
    if (typeof value === 'string') fields.append(name, value)
    else if (value.size > 0) fields.append(name, Buffer.from(await value.arrayBuffer()).toString('base64'))
  }
  return fields.toString()
}

/**
 * A body that the listener did not read: only once it is known who sends it. Of one that is too large some more is read and
 * dropped, because most clients read an answer only when all is sent, and the next request comes on the same connection.
 */
export async function collect(stream: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes <= maxBytes) chunks.push(chunk)
    else if (bytes > maxBytes + maxDroppedBytes) throw tooLarge(maxBytes)
    else chunks.length = 0
  }
  if (bytes > maxBytes) throw tooLarge(maxBytes)
  return Buffer.concat(chunks)
}

const maxDroppedBytes = 256 * 1024 * 1024

function tooLarge(maxBytes: number): Failure {
  const mebibytes = Math.floor(maxBytes / 2 ** 20)
  return new Failure('too_large', {
    message: `The file is larger than ${mebibytes} MiB. Import it by tillgate reconcile import.`,
  })
}
