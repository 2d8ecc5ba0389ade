// Bounds what one answer may make us parse. The HTTP client limits headers and we limit the body, but interim
// answers and the framing of chunks have no end of their own: a receiver could keep a processor busy with them.
import type { Socket } from 'node:net'
import { OutboundFailure } from './failure.ts'

// The parser builds an error for each header past its limit within the piece it was given: floods of headers
// cost 8 to 35 ms in pieces of this size, and 100 to 590 ms in the pieces that a socket gives by itself.
const pieceBytes = 4_096

export function boundRead(socket: Socket, maxReadBytes: number): Socket {
  const read = socket.read.bind(socket)
  let leftBytes = maxReadBytes
  let writtenBytes = 0
  socket.read = (size) => {
    if (socket.destroyed) return null
    const piece: Buffer | null = read(size ?? Math.min(socket.readableLength, pieceBytes))
    if (piece === null) return null
    // Something was written since: this is the answer to another request.
    if (socket.bytesWritten !== writtenBytes) {
      writtenBytes = socket.bytesWritten
      leftBytes = maxReadBytes
    }
    leftBytes -= piece.length
    if (leftBytes >= 0) return piece
    socket.destroy(new OutboundFailure('protocol', `more than ${maxReadBytes} bytes for one answer`))
    return null
  }
  return socket
}
