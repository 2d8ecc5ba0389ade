// A merchant's logo: a small raster image, recognized by its first bytes. Vector images are rejected, because they
// can contain scripts.
import { Failure } from '@tillgate/protocol'

export const logoTypes = ['image/png', 'image/jpeg', 'image/webp'] as const
export type LogoType = (typeof logoTypes)[number]

export interface Logo {
  readonly image: Buffer
  readonly type: LogoType
  readonly hash: string
}

export const maxLogoBytes = 64 * 1024

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
