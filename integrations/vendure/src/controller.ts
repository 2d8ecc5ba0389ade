// /payments/tillgate: callbacks of the gateway, and consumers who come back from its checkout.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Controller, Get, Inject, Post, Req, Res } from '@nestjs/common'
import { type CallbackHandler, isFinalOrderStatus } from '@tillgate/sdk'
import { Logger } from '@vendure/core'
import { type TillgateOptions, tillgateOptions } from './options.ts'
import { TillgatePayments } from './payments.ts'

@Controller('payments/tillgate')
export class TillgateController {
  readonly #payments: TillgatePayments
  readonly #options: TillgateOptions
  readonly #callbacks: CallbackHandler

  constructor(
    @Inject(TillgatePayments) payments: TillgatePayments,
    @Inject(tillgateOptions) options: TillgateOptions,
  ) {
    this.#payments = payments
    this.#options = options
    this.#callbacks = payments.tillgate.callbacks.handler((event) => payments.take(event), {
      onError: (error) => Logger.warn(`A callback was not taken: ${error}`, 'TillgatePlugin'),
    })
  }

  @Post()
  callback(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    return this.#callbacks.express(request, response)
  }

  /** The storefront's page finds the order settled, also where the callback is late. What was not signed asks nothing. */
  @Get()
  async back(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    const target = new URL(this.#options.returnUrl)
    const back = await this.#payments.tillgate.redirects.verify(request.url ?? '')
    if (back && isFinalOrderStatus(back.status)) {
      const code = await this.#payments.follow(back.paymentId).catch((error) => {
        Logger.error(`Payment ${back.paymentId} was not followed: ${error}`, 'TillgatePlugin')
      })
      if (code) target.searchParams.set('order', code)
    }
    response.writeHead(303, { location: target.href }).end()
  }
}
