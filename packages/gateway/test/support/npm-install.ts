// How tests install a package of ours by its lock file, with what builds it.

/**
 * Not `npm ci`: it wants optional packages of every platform in the lock file, and not every registry has them. The
 * developers' packages are named, because NODE_ENV=production leaves them out, and the compiler is one.
 */
export const npmInstall = [
  'install',
  '--include=dev',
  '--no-save',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
] as const
