// A rail for the benchmark: takes every payment, and has it approved when it is asked the next time. Below /hangs it never
// answers.
import { createServer } from 'node:http'
import { signRailResponse } from '@tillgate/protocol'

const { secret } = JSON.parse(process.env['BENCH'] ?? '{}')
const pending = '{"status":"pending","nextAction":{"kind":"redirect","url":"https://bank.example/pay"}}'
const approved = '{"status":"approved","reference":"bank-1"}'
const server = createServer((request, response) => {
  if (request.url === '/hangs') return void request.resume()
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { type } = JSON.parse(Buffer.concat(chunks).toString()) as { type: string }
    const body = type === 'payment.start' ? pending : approved
    const signed = signRailResponse(request.headers, body, { secrets: [secret], nowMs: Date.now() })
    response.writeHead(200, { 'content-type': 'application/json', ...signed }).end(body)
  })
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
