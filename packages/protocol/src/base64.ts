// Standard base64 with exactly one spelling per value. Node's decoder skips unknown characters, so two texts could have
// the same bytes; this one accepts only the text that the encoder would write.

export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** undefined for anything but canonical, padded, standard base64. */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}
