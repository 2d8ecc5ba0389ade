// A passkey authenticator without a browser: an ES256 key, and answers as WebAuthn writes them, honest or not.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

export interface CreationOptions {
  readonly rp: { readonly id: string }
  readonly user: { readonly id: string }
  readonly challenge: string
}

export interface RequestOptions {
  readonly rpId: string
  readonly challenge: string
}

/** What an attacker would change of an answer. */
export interface Answering {
  readonly origin: string
  readonly signCount?: number
  readonly userHandle?: string
  /** Whether the device checked who holds it. */
  readonly isVerified?: boolean
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
const sha256 = (bytes: string | Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

export class Authenticator {
  readonly #pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly id = randomBytes(32)
  #userHandle = ''

  create({ rp, user, challenge }: CreationOptions, { origin, signCount = 0 }: Answering): string {
    this.#userHandle = user.id
    const { x = '', y = '' } = this.#pair.publicKey.export({ format: 'jwk' })
    const coordinate = (text: string) =>
      Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(text, 'base64url')])
    // A CBOR map of five: kty 2 (EC2), alg -7 (ES256), crv 1 (P-256), x, y.
    const publicKey = Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      coordinate(x),
      Buffer.from([0x22]),
      coordinate(y),
    ])
    const idLength = Buffer.from([0, this.id.length])
    const attested = Buffer.concat([Buffer.alloc(16), idLength, this.id, publicKey])
    const authData = Buffer.concat([authDataOf(rp.id, { flags: 0x45, signCount }), attested])
    // { fmt: "none", attStmt: {}, authData }
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3]),
      cborText('fmt'),
      cborText('none'),
      cborText('attStmt'),
      Buffer.from([0xa0]),
      cborText('authData'),
      Buffer.from([0x58, authData.length]),
      authData,
    ])
    return this.#credential({
      clientDataJSON: base64url(clientData('webauthn.create', challenge, origin)),
      attestationObject: base64url(attestationObject),
    })
  }

  get({ rpId, challenge }: RequestOptions, answering: Answering): string {
    const { origin, signCount = 0, userHandle = this.#userHandle, isVerified = true } = answering
    const authenticatorData = authDataOf(rpId, { flags: isVerified ? 0x05 : 0x01, signCount })
    const clientDataJSON = clientData('webauthn.get', challenge, origin)
    const signed = Buffer.concat([authenticatorData, sha256(clientDataJSON)])
    return this.#credential({
      clientDataJSON: base64url(clientDataJSON),
      authenticatorData: base64url(authenticatorData),
      signature: base64url(sign('sha256', signed, this.#pair.privateKey)),
      userHandle,
    })
  }

  #credential(response: object): string {
    const id = base64url(this.id)
    return JSON.stringify({ id, rawId: id, type: 'public-key', response, clientExtensionResults: {} })
  }
}

function authDataOf(rpId: string, { flags, signCount }: { flags: number; signCount: number }): Buffer {
  const count = Buffer.alloc(4)
  count.writeUInt32BE(signCount)
  return Buffer.concat([sha256(rpId), Buffer.from([flags]), count])
}

function clientData(type: string, challenge: string, origin: string): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
}

/** Of less than 24 bytes. */
function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])
}
