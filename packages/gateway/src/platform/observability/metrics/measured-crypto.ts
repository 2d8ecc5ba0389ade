// Measures the expensive cryptographic operations without changing them.
import {
  type OpeningTools,
  openingTools,
  openingToolsHere,
  type SealingTools,
  sealingTools,
} from '@tillgate/protocol'
import type { CryptoOperation } from './gateway-metrics.ts'
import type { Histogram } from './registry.ts'

export interface MeasuredCrypto {
  readonly tools: OpeningTools & SealingTools
  /** Verifies on the calling thread. */
  readonly toolsHere: OpeningTools
}

export function measuredCrypto(histogramOf: (act: CryptoOperation) => Histogram): MeasuredCrypto {
  const decrypting = histogramOf('aes_decrypt')
  const encrypting = histogramOf('aes_encrypt')
  const verifying = histogramOf('rsa_verify')
  const signing = histogramOf('rsa_sign')
  const tools: OpeningTools & SealingTools = {
    decrypt(bytes, key) {
      const startedAtMs = performance.now()
      const text = openingTools.decrypt(bytes, key)
      decrypting.observe((performance.now() - startedAtMs) / 1000)
      return text
    },
    encrypt(text, key, nonce) {
      const startedAtMs = performance.now()
      const body = sealingTools.encrypt(text, key, nonce)
      encrypting.observe((performance.now() - startedAtMs) / 1000)
      return body
    },
    async verify(verification) {
      const startedAtMs = performance.now()
      const isGenuine = await openingTools.verify(verification)
      verifying.observe((performance.now() - startedAtMs) / 1000)
      return isGenuine
    },
    sign(text, privateKey) {
      const startedAtMs = performance.now()
      return sealingTools.sign(text, privateKey, () =>
        signing.observe((performance.now() - startedAtMs) / 1000),
      )
    },
  }
  return {
    tools,
    toolsHere: {
      decrypt: tools.decrypt,
      verify(verification) {
        const startedAtMs = performance.now()
        const isGenuine = openingToolsHere.verify(verification)
        verifying.observe((performance.now() - startedAtMs) / 1000)
        return isGenuine
      },
    },
  }
}
