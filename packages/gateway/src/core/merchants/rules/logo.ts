// A merchant's logo: a small picture, known by its first bytes and served as that alone. Vector images are refused,
// because they can hold scripts.
import { Failure } from '@tillgate/protocol'

export const logoTypes = ['image/png', 'image/jpeg', 'image/webp'] as const
export type LogoType = (typeof logoTypes)[number]

export interface Logo {
  readonly image: Buffer
  readonly type: LogoType
  readonly hash: string
}

export const maxLogoBytes = 64 * 1024

/** Throws unless it is a picture that we serve. */
export function readLogo(image: Buffer, hashOf: (image: Buffer) => string): Logo {
  const type = typeOf(image)
  if (type === undefined || image.length > maxLogoBytes)
    throw new Failure('invalid_field', {
      field: 'logo',
      message: `The logo must be a PNG, JPEG or WebP image of at most ${maxLogoBytes / 1024} KiB.`,
    })
  return { image, type, hash: hashOf(image) }
}

function typeOf(image: Buffer): LogoType | undefined {
  const begins = image.subarray(0, 12).toString('latin1')
  if (begins.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (begins.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  return /^RIFF.{4}WEBP$/s.test(begins) ? 'image/webp' : undefined
}
