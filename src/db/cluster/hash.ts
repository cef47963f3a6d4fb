// PostgreSQL's hash of a uuid, by which Citus finds the shard of a customer. A start compares it with the server's own.

const rotated = (value: number, bits: number) => (value << bits) | (value >>> (32 - bits))

/** hash_bytes() of 16 bytes: Bob Jenkins' lookup3, as a signed number of 32 bits. */
export function hashOfUuid(uuid: string): number {
  const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex')
  const start = 0x9e3779b9 + 16 + 3_923_095
  let a = (start + bytes.readUInt32LE(0)) | 0
  let b = (start + bytes.readUInt32LE(4)) | 0
  let c = (start + bytes.readUInt32LE(8)) | 0
  a = (a - c) ^ rotated(c, 4)
  c = (c + b) | 0
  b = (b - a) ^ rotated(a, 6)
  a = (a + c) | 0
  c = (c - b) ^ rotated(b, 8)
  b = (b + a) | 0
  a = (a - c) ^ rotated(c, 16)
  c = (c + b) | 0
  b = (b - a) ^ rotated(a, 19)
  a = (a + c) | 0
  c = (c - b) ^ rotated(b, 4)
  b = (b + a) | 0
  a = (a + bytes.readUInt32LE(12)) | 0
  c = ((c ^ b) - rotated(b, 14)) | 0
  a = ((a ^ c) - rotated(c, 11)) | 0
  b = ((b ^ a) - rotated(a, 25)) | 0
  c = ((c ^ b) - rotated(b, 16)) | 0
  a = ((a ^ c) - rotated(c, 4)) | 0
  b = ((b ^ a) - rotated(a, 14)) | 0
  return ((c ^ b) - rotated(b, 24)) | 0
}
