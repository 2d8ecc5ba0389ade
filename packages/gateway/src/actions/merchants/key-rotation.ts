// Describes the replacement of a merchant's key: what is done, what comes next, and the commands.
import type { Rotation } from '../../core/merchants/rules/key-use.ts'
import type { MerchantKey } from '../../core/merchants/rules/merchant.ts'

/** A rotation from the start, shown after adding the new key. */
export function rotationGuide({
  merchantId,
  kind,
  oldKeyId,
  newKeyId,
}: {
  readonly merchantId: string
  readonly kind: MerchantKey['kind']
  readonly oldKeyId: string
  readonly newKeyId: string
}): string {
  const revoke = `key revoke ${merchantId} ${oldKeyId} --reason rotated`
  const steps =
    kind === 'aes'
      ? [
          'Give the new key to the merchant. Until the merchant uses it, callbacks are encrypted with the old key.',
          'The merchant puts the new key first and keeps the old key second (TILLGATE_AES_KEY=new,old). With several servers, first set old,new on every server, then new,old.',
          `The first request with the new key switches callbacks to it. To switch without a request: key use-for-callbacks ${merchantId} ${newKeyId} --reason rotated`,
          `When "key list ${merchantId}" shows the step “revoke”, run: ${revoke}`,
          'The merchant removes the old key.',
        ]
      : [
          'The merchant signs its requests with the new private key.',
          `When "key list ${merchantId}" shows the step “revoke”, run: ${revoke}`,
        ]
  return ['To replace the old key:', ...steps.map((step, index) => `${index + 1}. ${step}`)].join('\n')
}

/** The next step. */
export function nextStepOf({ step, newKey, oldKey }: Rotation): string {
  switch (step) {
    case 'install':
      return newKey.kind === 'aes'
        ? `The merchant adds key ${newKey.keyId} before the old key in its settings. The first request with the new key also switches callbacks to it.`
        : `The merchant signs its requests with the private half of key ${newKey.keyId}.`
    case 'wait':
      return `Wait: requests still use key ${oldKey.keyId}. At least one of the merchant’s servers has not switched.`
    case 'revoke':
      return `Revoke key ${oldKey.keyId}. Then the merchant removes it from its settings.`
  }
}
