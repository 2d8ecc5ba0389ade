// What Vendure loads: `plugins: [TillgatePlugin.init(options)]`.
import { PluginCommonModule, type Type, VendurePlugin } from '@vendure/core'
import { TillgateController } from './controller.ts'
import { tillgateHandler } from './handler.ts'
import { type TillgateOptions, tillgateOptions } from './options.ts'
import { TillgatePayments } from './payments.ts'
import { orderProcess, paymentProcess, refundProcess } from './states.ts'

export { tillgateHandler } from './handler.ts'
export type { TillgateOptions } from './options.ts'

@VendurePlugin({
  imports: [PluginCommonModule],
  controllers: [TillgateController],
  providers: [TillgatePayments, { provide: tillgateOptions, useFactory: () => TillgatePlugin.options }],
  configuration: (config) => {
    const { paymentOptions, orderOptions } = config
    paymentOptions.paymentMethodHandlers.push(tillgateHandler)
    paymentOptions.process = [...(paymentOptions.process ?? []), paymentProcess]
    paymentOptions.refundProcess = [...(paymentOptions.refundProcess ?? []), refundProcess]
    orderOptions.process = [...(orderOptions.process ?? []), orderProcess]
    return config
  },
  compatibility: '^3.5.0',
})
// biome-ignore lint/complexity/noStaticOnlyClass: what a Vendure plugin is
export class TillgatePlugin {
  static options: TillgateOptions

  static init(options: TillgateOptions): Type<TillgatePlugin> {
    for (const name of ['credentials', 'vendureUrl', 'returnUrl'] as const)
      if (!options[name]) throw new Error(`The option ${name} of @tillgate/vendure is missing.`)
    TillgatePlugin.options = options
    return TillgatePlugin
  }
}
