// Tools from Debian that a programme uses beyond npm's packages: installed where that is possible, and named where it
// is not.
import { existsSync, globSync } from 'node:fs'
import { canInstall, install } from '../../scripts/debian.ts'

const tools = {
  strace: { isThere: () => existsSync('/usr/bin/strace') },
  faketime: { isThere: () => faketimeLibrary() !== undefined },
} as const
export type Tool = keyof typeof tools

/** To be loaded before a program's own libraries; the one for programs with threads. */
export function faketimeLibrary(): string | undefined {
  return globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0]
}

/** Undefined when it is there now, otherwise what a person must do. */
export function missingTool(tool: Tool): string | undefined {
  if (tools[tool].isThere()) return undefined
  const trouble = canInstall() ? install(tool) : 'only root may install it, and only with apt-get'
  if (tools[tool].isThere()) return undefined
  return `${tool} is missing here (Debian: sudo apt-get install ${tool})${trouble ? `: ${trouble.trim()}` : ''}`
}
