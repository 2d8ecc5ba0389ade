// node:http and node:tls as they are. An `import` of them reads every name that they export, and with it loads fetch and
// WebSockets and copies the authorities that Node brings (24.21): 4 MB and 60 ms of CPU (in a bare process). It may go when
// an import leaves them alone (builtin-modules.test.ts).
const { getBuiltinModule } = process

export const http = getBuiltinModule('node:http')
export const tls = getBuiltinModule('node:tls')
