// Every kind of sealed secret and its binding, for the rotation of the master key.
import { placeOfEndpointSecret } from '../../core/callbacks/rules/endpoint.ts'
import { placeOfLink } from '../../core/emails/rules/email.ts'
import { placeOf as placeOfPlatformKey } from '../../core/keys/platform-keys.ts'
import type { SecretKey } from '../../core/keys/store/sealed-secrets.ts'
import { placeOf as placeOfMerchantKey } from '../../core/merchants/merchant-directory.ts'
import { placeOfPin } from '../../core/wallets/rules/wallet.ts'
import { placeOfEvidence } from '../../finance/rails/disputes/rules/dispute.ts'
import { placeOfRailSecret } from '../../finance/rails/rules/outside-rail.ts'
import { placeOfPassword, placeOfTotp } from '../../identity/accounts/rules/account.ts'
import { placeOfHalf } from '../../identity/operators/rules/operator.ts'

export function placeOfSecret({ kind, owner, id }: SecretKey): string {
  switch (kind) {
    case 'merchant_key':
      return placeOfMerchantKey({ merchantId: owner, keyId: id })
    case 'platform_key':
      return placeOfPlatformKey(id)
    case 'operator_totp':
      return placeOfTotp('operator', id)
    case 'operator_password':
      return placeOfPassword('operator', id)
    case 'member_totp':
      return placeOfTotp('member', id)
    case 'member_password':
      return placeOfPassword('member', id)
    case 'wallet_pin':
      return placeOfPin(id)
    case 'rail_secret':
      return placeOfRailSecret({ railId: owner, secretId: id })
    case 'endpoint_secret':
      return placeOfEndpointSecret({ merchantId: owner, secretId: id })
    case 'dispute_evidence':
      return placeOfEvidence({ merchantId: owner, disputeId: id })
    case 'email_link':
      return placeOfLink(id)
    case 'approval_half':
      return placeOfHalf(owner)
  }
}
