// Requests whose end a proxy in front and the gateway could see in different places, each with a second request hidden
// in it. A strict proxy sees one request, or refuses; so must the gateway: the hidden one is never carried out.
import { type Place, postBytes } from './bare-connection.ts'

export interface Form {
  readonly name: string
  /** `hidden` is a whole request that would make an order. */
  readonly bytes: (hidden: string) => string
  /** Where it is seen as one request, whose body is the hidden one: its answer, and that of the farewell behind it. */
  readonly answers?: readonly number[]
}

export function smugglingForms(place: Place, path: string): Form[] {
  const post = (headers: readonly string[], body: string) => postBytes(place, { path, headers, body })
  const chunkedAs =
    (...lines: string[]) =>
    (hidden: string) =>
      post(lines, `0\r\n\r\n${hidden}`)
  const lengthAs =
    (...lines: string[]) =>
    (hidden: string) =>
      post(lines, `xxxxx${hidden}`)
  const inAnotherBody = (head: string, hidden: string) =>
    `${head}host: x\r\ncontent-length: ${Buffer.byteLength(hidden)}\r\n\r\n${hidden}`
  const both = (encoding: string) => chunkedAs('content-length: 5', encoding)

  return [
    { name: 'CL.TE', bytes: both('transfer-encoding: chunked') },
    {
      name: 'TE.CL',
      bytes: (hidden) => post(['transfer-encoding: chunked', 'content-length: 4'], inChunk(hidden)),
    },
    ...[
      'transfer-encoding: xchunked',
      'transfer-encoding : chunked',
      'transfer-encoding: chunked\r\ntransfer-encoding: identity',
      'transfer-encoding: identity\r\ntransfer-encoding: chunked',
      'transfer-encoding: chunked, identity',
      'transfer-encoding: chunked, chunked',
      'transfer-encoding: "chunked"',
      'transfer-encoding:\x0bchunked',
      'transfer-encoding\x00: chunked',
      'transfer-encoding: chunked\x00',
      ' transfer-encoding: chunked',
      'x: y\r\n transfer-encoding: chunked',
      'x: y\rtransfer-encoding: chunked',
      'x: y\ntransfer-encoding: chunked',
      'transfer-encoding:\r\n chunked',
      'transfer-encoding: ',
      'transfer_encoding: chunked\r\ntransfer-encoding: gzip',
    ].map((encoding) => ({ name: `TE.TE ${JSON.stringify(encoding)}`, bytes: both(encoding) })),
    ...['+5', '0x5', '-5', '5,5', '5, 6', '5 5', '5_0', '05x', '18446744073709551621', '', '\t5\x0b'].map(
      (length) => ({
        name: `length ${JSON.stringify(length)}`,
        bytes: lengthAs(`content-length: ${length}`),
      }),
    ),
    { name: 'two lengths', bytes: lengthAs('content-length: 5', 'content-length: 6') },
    { name: 'one length twice', bytes: lengthAs('content-length: 5', 'content-length: 5') },
    { name: 'length : 5', bytes: lengthAs('content-length : 5') },
    {
      name: 'lines that end in LF alone',
      bytes: (hidden) => post(['content-length: 5'], `xxxxx${hidden}`).replaceAll('\r\n', '\n'),
    },
    {
      name: 'chunk size with LF alone',
      bytes: (hidden) => post(['transfer-encoding: chunked'], `2\n{}\r\n0\r\n\r\n${hidden}`),
    },
    {
      name: 'chunk extension with LF',
      bytes: (hidden) => post(['transfer-encoding: chunked'], `2;a\n{}\r\n0\r\n\r\n${hidden}`),
    },
    {
      name: 'chunk size too large',
      bytes: (hidden) =>
        post(['transfer-encoding: chunked'], `10000000000000002\r\n{}\r\n0\r\n\r\n${hidden}`),
    },
    {
      name: 'chunk size 0x2',
      bytes: (hidden) => post(['transfer-encoding: chunked'], `0x2\r\n{}\r\n0\r\n\r\n${hidden}`),
    },
    {
      name: 'chunk longer than said',
      bytes: (hidden) => post(['transfer-encoding: chunked'], `2\r\n{}x\r\n0\r\n\r\n${hidden}`),
    },
    {
      name: 'chunked in HTTP/1.0',
      bytes: (hidden) => both('transfer-encoding: chunked')(hidden).replace('HTTP/1.1', 'HTTP/1.0'),
    },
    { name: 'HTTP/2 by its preface', bytes: (hidden) => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden}` },
    { name: 'no version', bytes: (hidden) => `POST ${path}\r\n\r\n${hidden}` },
    {
      name: 'two spaces',
      bytes: (hidden) => inAnotherBody(`POST  ${path}  HTTP/1.1\r\n`, hidden),
      answers: [415, 200],
    },
    // Read as every proxy reads them: one request, whose body is the hidden one.
    {
      name: 'body of a GET',
      bytes: (hidden) => inAnotherBody('GET /readyz HTTP/1.1\r\n', hidden),
      answers: [200, 200],
    },
    {
      name: 'body where nobody reads one',
      bytes: (hidden) => inAnotherBody('POST /nothing HTTP/1.1\r\n', hidden),
      answers: [404, 200],
    },
    {
      name: 'body of another type',
      bytes: (hidden) => inAnotherBody(`POST ${path} HTTP/1.1\r\n`, hidden),
      answers: [415, 200],
    },
    {
      name: 'absolute form',
      bytes: (hidden) => inAnotherBody(`POST http://elsewhere${path} HTTP/1.1\r\n`, hidden),
      answers: [415, 200],
    },
    {
      name: 'upgrade to h2c',
      bytes: (hidden) =>
        post(
          [
            'connection: upgrade, http2-settings, close',
            'upgrade: h2c',
            'http2-settings: AAMAAABk',
            `content-length: ${hidden.length}`,
          ],
          hidden,
        ),
      // The line is not used any more.
      answers: [400],
    },
    {
      name: 'chunk extensions',
      bytes: (hidden) => post(['transfer-encoding: chunked'], inChunk(hidden, ';a=b;c="d"')),
      answers: [400, 200],
    },
    {
      name: 'trailers',
      bytes: (hidden) =>
        post(
          ['transfer-encoding: chunked', 'trailer: content-length'],
          `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\ncontent-length: 5\r\n\r\n`,
        ),
    },
  ]
}

function inChunk(text: string, extension = ''): string {
  return `${text.length.toString(16)}${extension}\r\n${text}\r\n0\r\n\r\n`
}
