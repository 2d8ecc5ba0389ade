// An npm package: a compressed tar archive of the folder package/. The same files produce the same bytes, without
// times, owners or names of this machine.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import type { PackageFile } from './package-files.ts'

const blockBytes = 512

export function tarball(files: readonly PackageFile[]): Buffer {
  const archive = files.flatMap((file) => {
    const content = Buffer.from(file.content)
    return [header(file, content.length), content, Buffer.alloc(-content.length & (blockBytes - 1))]
  })
  // Two empty blocks end the archive.
  return gzipSync(Buffer.concat([...archive, Buffer.alloc(2 * blockBytes)]), { level: 9 })
}

/** POSIX ustar: texts and octal numbers at fixed positions. The checksum counts its own field as spaces. */
function header({ path, isProgram = false }: PackageFile, bytes: number): Buffer {
  const name = `package/${path}`
  assert(Buffer.byteLength(name) <= 100, `${name} is too long for the header of an archive`)
  const block = Buffer.alloc(blockBytes)
  block.write(name, 0)
  block.write(isProgram ? '0000755\0' : '0000644\0', 100)
  block.write('0000000\0'.repeat(2), 108)
  block.write(`${bytes.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0${' '.repeat(8)}0`, 124)
  block.write('ustar\x0000', 257)
  const checksum = block.reduce((sum, byte) => sum + byte, 0)
  block.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}
