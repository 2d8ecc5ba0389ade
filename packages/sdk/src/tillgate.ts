// The client, which a merchant's program creates once and reuses.

import { type Bills, makeBills } from './bills.ts'
import { makeCaller } from './call.ts'
import { type Callbacks, makeCallbacks } from './callbacks/callbacks.ts'
import { type Credentials, readCredentials } from './credentials.ts'
import { type Links, makeLinks } from './links.ts'
import {
  credentialsFromEnvironment,
  credentialsFromFile,
  type Environment,
  namingVariables,
} from './load-credentials.ts'
import { type ClientOptions, withDefaults } from './options.ts'
import { makeOrders, type Orders } from './orders.ts'
import { makeRedirects, type Redirects } from './redirects.ts'
import { makeRefunds, type Refunds } from './refunds.ts'
import { makeSandbox, type Sandbox } from './sandbox.ts'

/**
 * A client of one Tillgate gateway for one merchant. It holds no connection and does not need to be closed.
 *
 * @example
 * const tillgate = Tillgate.fromEnvironment()
 * const { checkoutUrl } = await tillgate.orders.create({ … })
 */
export class Tillgate {
  /** Your merchantId. */
  readonly merchantId: string
  /** The gateway's address. */
  readonly gatewayUrl: string
  /** Create, query and cancel payment orders. */
  readonly orders: Orders
  /** Refund payments, and query refunds. */
  readonly refunds: Refunds
  /** Pages and QR codes at which consumers pay. */
  readonly links: Links
  /** A day's movements, verified and line by line. */
  readonly bills: Bills
  /** Receive the gateway's callbacks, and request them again. */
  readonly callbacks: Callbacks
  /** Verify the parameters of a consumer's return. */
  readonly redirects: Redirects
  /** Only a gateway in sandbox mode supports these. */
  readonly sandbox: Sandbox

  /**
   * @throws CredentialsError that lists all that is wrong with the credentials at once.
   * @example
   * const tillgate = new Tillgate({ gatewayUrl, merchantId, aesKey, privateKey, platformPublicKey })
   */
  constructor({
    gatewayUrl,
    merchantId,
    aesKey,
    privateKey,
    platformPublicKey,
    allowHttp,
    ...options
  }: Credentials & ClientOptions) {
    const keyring = readCredentials({
      gatewayUrl,
      merchantId,
      aesKey,
      privateKey,
      platformPublicKey,
      ...(allowHttp !== undefined && { allowHttp }),
    })
    const settings = withDefaults(options)
    const caller = makeCaller(keyring, settings)
    this.merchantId = keyring.merchantId
    this.gatewayUrl = keyring.gatewayUrl.href
    this.orders = makeOrders(caller, settings)
    this.refunds = makeRefunds(caller, this.orders, settings)
    this.links = makeLinks(caller)
    this.bills = makeBills(caller, settings)
    this.callbacks = makeCallbacks(caller, keyring)
    this.redirects = makeRedirects(keyring, caller.now)
    this.sandbox = makeSandbox(caller)
  }

  /**
   * From a JSON file with the credentials, as the gateway's sandbox writes one.
   *
   * @example
   * const tillgate = Tillgate.fromFile('data/sandbox-merchant.json')
   */
  static fromFile(path: string, options: ClientOptions = {}): Tillgate {
    return fromParts(credentialsFromFile(path), options)
  }

  /**
   * From TILLGATE_GATEWAY_URL, TILLGATE_MERCHANT_ID, TILLGATE_AES_KEY, TILLGATE_PRIVATE_KEY and
   * TILLGATE_PLATFORM_PUBLIC_KEY. Keys may be in files instead, named by the variable with _FILE at its end.
   *
   * @example
   * const tillgate = Tillgate.fromEnvironment()
   */
  static fromEnvironment(environment: Environment = process.env, options: ClientOptions = {}): Tillgate {
    return namingVariables(() => fromParts(credentialsFromEnvironment(environment), options))
  }
}

function fromParts(credentials: Partial<Credentials>, options: ClientOptions): Tillgate {
  // Safe: the constructor checks every field and reports the missing ones.
  return new Tillgate({ ...(credentials as Credentials), ...options })
}
