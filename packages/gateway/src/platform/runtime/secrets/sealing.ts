// Seals small values that a browser keeps for us, bound to their purpose: AES-256-GCM under a key derived from the
// master key, so that every process can open them. During a rotation, the first key seals and all open.
import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import type { RandomBytes } from '@tillgate/protocol'
import { type DerivedKeys, keyObjects } from '../node-workarounds/key-objects.ts'

const nonceBytes = 12
const tagBytes = 16

export interface Sealing {
  seal(value: object, place: string): string
  /** Returns undefined if the value is not ours or belongs to another place. */
  open(sealed: string, place: string): unknown
}

export function makeSealing(given: DerivedKeys, random: RandomBytes): Sealing {
  const keys = keyObjects(given)
  return {
    seal(value, place) {
      const nonce = random(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', keys[0], nonce, { authTagLength: tagBytes })
      cipher.setAAD(Buffer.from(place))
      const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
      return Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url')
    },
    open(sealed, place) {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length <= nonceBytes + tagBytes) return undefined
      for (const key of keys) {
        const text = open(bytes, { key, place })
        if (text !== undefined) return JSON.parse(text)
      }
      return undefined
    },
  }
}

function open(bytes: Buffer, { key, place }: { key: KeyObject; place: string }): string | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(Buffer.from(place))
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()])
    return text.toString('utf8')
  } catch {
    return undefined
  }
}
