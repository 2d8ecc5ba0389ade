// Standard base64 that has one spelling a value. Node's decoder skips what it does not know, so two texts could
// carry the same bytes; here only the text that the encoder would have written counts.

export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** undefined for anything but canonical, padded, standard base64. */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}
