// The yardstick of the checkout page, and of refusals: node:http that sends the same bytes, whatever is asked for.
import { createServer } from 'node:http'

const { page, httpStatus = 200 } = JSON.parse(process.env['BENCH'] ?? '{}')
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-length': Buffer.byteLength(page),
}
const server = createServer((_request, response) => {
  response.writeHead(httpStatus, headers)
  response.end(page)
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
