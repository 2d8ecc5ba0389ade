// Requests that are larger than anything of ours: each is refused before it is taken in, and its line is cut.
import { type Place, postBytes } from './bare-connection.ts'

export interface Oversize {
  readonly name: string
  readonly bytes: string
  /** Undefined: it is cut without a word. */
  readonly status: number | undefined
}

const bodyBytes = 256 * 1024

export function oversizeForms(place: Place, path: string): Oversize[] {
  const post = (headers: readonly string[], body: string) => postBytes(place, { path, headers, body })
  const tooMuch = 'x'.repeat(bodyBytes + 1)
  const many = 'x'.repeat(4 * bodyBytes)
  return [
    {
      name: 'one long header',
      bytes: `GET / HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(20_000)}\r\n\r\n`,
      status: 431,
    },
    {
      name: 'many headers',
      bytes: `GET / HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(100_000)}\r\n`,
      status: 431,
    },
    { name: 'a long path', bytes: `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, status: 431 },
    {
      name: 'a body one byte too long',
      bytes: post([`content-length: ${tooMuch.length}`], tooMuch),
      status: 413,
    },
    { name: 'a body of 10 GB, announced', bytes: post(['content-length: 10737418240'], 'x'), status: 413 },
    {
      name: 'a body in chunks, too long',
      bytes: post(['transfer-encoding: chunked'], `${many.length.toString(16)}\r\n${many}\r\n0\r\n\r\n`),
      status: 413,
    },
    {
      name: 'chunks of one byte, too many',
      bytes: post(['transfer-encoding: chunked'], '1\r\nx\r\n'.repeat(bodyBytes + 1)),
      status: undefined,
    },
    {
      name: 'endless trailers',
      bytes: post(['transfer-encoding: chunked'], `0\r\n${'a: b\r\n'.repeat(100_000)}\r\n`),
      status: 431,
    },
  ]
}

/** A body in chunks of one byte that nobody reads: refused for another reason, or sent to where nobody listens. */
export function unreadChunks(path: string): string[] {
  const chunks = '1\r\nx\r\n'.repeat(bodyBytes)
  return [path, '/nowhere'].map(
    (target) => `POST ${target} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`,
  )
}
