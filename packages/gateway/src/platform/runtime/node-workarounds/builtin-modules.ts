// Loads node:http and node:tls without `import`, which reads every export and thereby loads fetch, WebSockets and
// Node's CA list (24.21): 4 MB and 60 ms of CPU. Remove when an import no longer does so (builtin-modules.test.ts).
const { getBuiltinModule } = process

export const http = getBuiltinModule('node:http')
export const tls = getBuiltinModule('node:tls')
