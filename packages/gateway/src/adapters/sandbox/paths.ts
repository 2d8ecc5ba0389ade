// Where the pages of the sandbox are, for themselves and for whoever links to them.
export const sandboxAccessPath = '/sandbox'
export const playgroundPath = '/sandbox/playground'
export const galleryPath = '/sandbox/gallery'
