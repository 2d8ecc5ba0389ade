// Downloads of bills at the addresses that service.bill.get returns. An invalid or expired address is answered like a
// missing path.
import { Readable } from 'node:stream'
import { Failure } from '@tillgate/protocol'
import type { FastifyInstance } from 'fastify'
import type { AskBill, BillAddress } from '../../finance/bills/ask-bill.ts'
import type { Downloads } from '../kit/downloads.ts'

export interface BillParts {
  /** Throws while the gateway is still starting. */
  readonly open: AskBill['open']
  readonly downloads: Downloads
}

export function serveBills(listener: FastifyInstance, { open, downloads }: BillParts): void {
  listener.get<{ Params: BillAddress }>(
    '/bills/:merchantId/:day/:endsAtMs/:token',
    async (request, reply) => {
      const found = await open(request.params)
      if (!found) throw new Failure('no_such_operation', { message: 'No such path.' })
      // HEAD reads no bill and occupies no slot.
      const isHead = request.method === 'HEAD'
      const stream = isHead ? Readable.from([]) : downloads.start(found.content(), found.bill)
      if (!stream)
        throw new Failure('unavailable', {
          retryAfterSeconds: 5,
          message:
            'You are already downloading a bill, or too many bills are being downloaded. Try again in a moment.',
        })
      const { merchantId, day, bytes } = found.bill
      return reply
        .header('content-type', 'text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="bill-${merchantId}-${day}.csv"`)
        .header('content-length', bytes)
        .header('cache-control', 'no-store')
        .header('x-content-type-options', 'nosniff')
        .send(stream)
    },
  )
}
