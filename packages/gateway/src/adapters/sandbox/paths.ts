// The paths of the sandbox's pages, for themselves and for links to them.
export const sandboxAccessPath = '/sandbox'
export const playgroundPath = '/sandbox/playground'
export const galleryPath = '/sandbox/gallery'
