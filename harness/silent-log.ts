// A log that keeps nothing, for parts of the service that run in the process of a test or a proof.
export const silentLog = { warn: () => undefined, error: () => undefined }
