// Limits how much one response makes us parse. The HTTP client limits headers and the body is limited here, but
// interim responses and chunk framing are unbounded.
import type { Socket } from 'node:net'
import { OutboundFailure } from './failure.ts'

// The parser creates an error for each header beyond its limit within one piece: floods cost 8 to 35 ms in pieces of
// this size, and 100 to 590 ms in the socket's own pieces.
const pieceBytes = 4_096

export function boundRead(socket: Socket, maxReadBytes: number): Socket {
  const read = socket.read.bind(socket)
  let leftBytes = maxReadBytes
  let writtenBytes = 0
  socket.read = (size) => {
    if (socket.destroyed) return null
    const piece: Buffer | null = read(size ?? Math.min(socket.readableLength, pieceBytes))
    if (piece === null) return null
    // Something was written since, so this response belongs to another request.
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
