// Texts that have broken programs before, by kind: ends of strings, statements and lines, texts that are longer, deeper
// or of another alphabet than they look, and texts with a special meaning for some parser.

export const naughtyTexts: readonly string[] = [
  // empty, and what looks empty
  ['', ' ', '\t', '\r\n', '\u00a0', '\u200b', '\ufeff', '\u3000', 'null', 'undefined', 'NaN', 'None', 'nil'],
  // names that every object has
  ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__', 'then'],
  // the end of a string, of a statement, of a line
  ["'", '"', '\\', "' or 1=1--", "'; drop table orders; --", '") or ("1"="1', '`', '\\u0000', '%00', '\u0000'],
  ['a\u0000b', 'a\nb', 'a\rb', 'a\r\nX-Evil: 1', '%0d%0aX-Evil:%201', '\u2028', '\u2029', '\u0085', '\u001b[31m'],
  ['\u0007', '\u007f'],
  // paths
  ['..', '.', '../../../../etc/passwd', '..%2f..%2f', '%2e%2e/', '/', '//', 'C:\\con', 'file:///etc/passwd'],
  ['\\\\host\\x'],
  // meant for a template, a shell, a page, a formula, a format
  ['\u0024{7*7}', '{{7*7}}', '\u0024{jndi:ldap://127.0.0.1/x}', '$(id)', '`id`', '| id', '<script>x</script>'],
  ['<!--', '=1+1', '%n%s%x'],
  // not quite numbers
  ['0', '-0', '-1', '1e3', '1e400', '0x10', '0b1', '1_000', '١٢٣', '1,000', '９', '9007199254740993', '1'.repeat(400)],
  // other alphabets and lengths
  [
    'ß',
    'İ',
    'ﬁ',
    'Å',
    'A\u030a',
    '한국어',
    '㍿',
    '🙂',
    '👨‍👩‍👧‍👦',
    '\u202eevil',
    '\u2066x\u2069',
    'e\u0301'.repeat(60),
  ],
  ['\ud800', '\udc00', 'a\ud83d', '\udc00\ud800', '\uffff', '\ufffe', '\ufdd0', '\u{10ffff}', '\u0378', '\ue000'],
  ['x'.repeat(100), 'x'.repeat(101), 'x'.repeat(200), 'x'.repeat(201), 'x'.repeat(255), 'x'.repeat(256)],
  ['한'.repeat(200)],
  // keywords of the protocol and of the service
  ['BASIC', 'basic', 'CARD', 'PENDING', 'SUCCESS', 'INT001', 'ord_', 'cpk_', 'Bearer', 'true', 'false', 'HTTP/1.1'],
  ['{}', '[]'],
].flat()

/** As raw JSON: no program would serialise a number like this. */
export const naughtyNumbers: readonly string[] = [
  ['-0', '0.1', '1e3', '1E+3', '1000.0', '1000.00000000000000001', '0.9999999999999999999', '1e-400', '1e400'],
  ['-1e400', '9007199254740991', '9007199254740992', '9007199254740993', '9223372036854775807'],
  ['9223372036854775808', '18446744073709551616', '-9223372036854775809', '2147483647', '2147483648', '1e21'],
  ['1e308', '5e-324', '12345678901234567890123456789012345678901234567890', `1${'0'.repeat(400)}`],
  [`0.${'0'.repeat(300)}1`],
  // no JSON
  ['01000', '+1000', '.5', '1.', '0x3E8', '1_000', 'NaN', 'Infinity', '-', '--1', '1e', 'undefined', '1n'],
].flat()

/** Headers with a meaning for a server, a proxy or a framework. */
export const naughtyHeaders: readonly string[] = [
  ['Connection: close', 'Connection: keep-alive', 'Connection: upgrade', 'Connection: close, keep-alive'],
  ['Connection:', 'Upgrade: websocket', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__', 'Expect: 100-continue'],
  ['Expect: 200-ok', 'Transfer-Encoding: chunked', 'Transfer-Encoding: xchunked'],
  ['Transfer-Encoding: chunked, identity', 'TE: trailers', 'Transfer-Encoding : chunked'],
  ['Transfer-Encoding: gzip, chunked', 'Transfer-Encoding:', 'Trailer: Content-Length', 'Content-Length: 0'],
  ['Content-Length: 1', 'Content-Length: -1', 'Content-Length: +5', 'Content-Length: 0x10', 'Content-Length: 5, 5'],
  ['Content-Length : 5', 'Content-Length: 99999999999999999999', 'Content-Length:', 'Content-Length: 1e3'],
  ['Content-Type: text/plain', 'Content-Type: application/json; charset=utf-16'],
  ['Content-Type: application/json,text/plain', 'Content-Type:', 'Content-Type: multipart/form-data; boundary=x'],
  ['Content-Type: application/json;;;', 'Content-Encoding: gzip', 'Host:', 'Host: a b', 'Host: localhost:99999'],
  ['X-HTTP-Method-Override: DELETE', 'X-Forwarded-For: 1.2.3.4', 'Accept: */*;q=2', 'Authorization: Basic Og=='],
  ['Authorization: Bearer', 'Service-Api-Key: *', 'X-Idempotency-Key: a b', 'X-Idempotency-Key:', 'Cookie: a=b; a=c'],
  ['Range: bytes=0-1', 'If-None-Match: *', 'Accept-Encoding: gzip', 'Accept-Version: 1.x', ': empty', 'no colon'],
  [' folded', '\tfolded', 'X-Null: a\u0000b', 'X-High: é\u0080ÿ', 'X-Tab: a\tb', 'X\u0000Y: z', 'X(Y): z'],
  ['__proto__: x', 'constructor: y'],
].flat()
