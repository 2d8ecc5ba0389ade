// What Medusa loads: `{ resolve: '@tillgate/medusa', id: 'tillgate', options }` among the providers of its payment module.
import { ModuleProvider, Modules } from '@medusajs/framework/utils'
import { TillgateProvider } from './provider.ts'

export { type TillgateOptions, TillgateProvider } from './provider.ts'
export default ModuleProvider(Modules.PAYMENT, { services: [TillgateProvider] })
