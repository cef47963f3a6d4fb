"""Verification of Ed25519 signatures: RFC 8032, section 5.1.

Plain arithmetic, a few milliseconds each. Only public values are handled, so it need not take constant time.
"""
import hashlib

# A point is (X, Y, Z, T) with x = X/Z, y = Y/Z and xy = T/Z.
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P

def add(one, other):
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c, d = 2 * one[3] * other[3] * D % P, 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P

def multiply(number, point):
    result = (0, 1, 1, 0)
    while number:
        result = add(result, point) if number & 1 else result
        point, number = add(point, point), number >> 1
    return result

def decode_point(data):
    sign, y = divmod(int.from_bytes(data, "little"), 2**255)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != square or (x == 0 and sign):
        return None
    x = x if x & 1 == sign else P - x
    return x, y, 1, x * y % P

def encode_point(point):
    inverse = pow(point[2], -1, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")

BASE = decode_point(b"\x58" + b"\x66" * 31)

def is_small(point):
    """Of the eight points that make a signature fit more than one message. Browsers and Node refuse them too."""
    x, y, z, _ = multiply(8, point)
    return x == 0 and y == z

def is_signed(public_key, signature, message):
    point, commitment = decode_point(public_key), decode_point(signature[:32])
    number = int.from_bytes(signature[32:], "little")
    if point is None or commitment is None or number >= L or is_small(point) or is_small(commitment):
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    negative = (P - point[0], point[1], 1, P - point[3])
    result = add(multiply(number, BASE), multiply(int.from_bytes(digest, "little") % L, negative))
    return encode_point(result) == signature[:32]
