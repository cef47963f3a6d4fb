#!/usr/bin/env python3
"""Verifies receipts, checkpoints and consistency proofs of the transparency log, as docs/receipts.md describes them.

Python 3.9 or later, without packages. Usage: python3 verify.py FILE... [--key VKEY]...
Exit code 0: everything is verified; 1: it is not; 2: invalid command line; 3: it is consistent, and without --key it is not known
who has signed it.
"""
import argparse, base64, binascii, hashlib, json, re, sys, unicodedata

from ed25519 import is_signed

class Refused(Exception):
    """The file is not valid; the message is a sentence."""

def require(condition, sentence):
    if not condition:
        raise Refused(sentence)

def sha256(data):
    return hashlib.sha256(data).digest()

# The tree: RFC 6962, section 2.1, by its recursive definitions.
def node(left, right):
    return sha256(b"\x01" + left + right)

def split(size):
    return 1 << (size - 1).bit_length() - 1

def inclusion_root(leaf_hash, index, size, proof):
    """The root that an audit path leads to. Its last hash is the other half of the tree."""
    if size == 1 or not proof:
        return leaf_hash if size == 1 and not proof else None
    half, rest = split(size), proof[:-1]
    if index < half:
        inner = inclusion_root(leaf_hash, index, half, rest)
        return inner and node(inner, proof[-1])
    inner = inclusion_root(leaf_hash, index - half, size - half, rest)
    return inner and node(proof[-1], inner)

def consistency_roots(old, size, proof, old_root):
    """The roots of the first `old` leaves and of all. `old_root` is known until the path turns to the right."""
    if old == size or not proof:
        known = [old_root] if old_root else proof
        is_end = old == size and len(known) == 1 and len(proof) == (0 if old_root else 1)
        return known * 2 if is_end else None
    half, rest, last = split(size), proof[:-1], proof[-1]
    if old <= half:
        inner = consistency_roots(old, half, rest, old_root)
        return inner and [inner[0], node(inner[1], last)]
    inner = consistency_roots(old - half, size - half, rest, None)
    return inner and [node(last, inner[0]), node(last, inner[1])]

# The formats.
def from_base64(text, is_length):
    try:
        data = base64.b64decode(text if isinstance(text, str) else "", validate=True)
    except (binascii.Error, ValueError):
        data = b""
    is_canonical = base64.b64encode(data).decode() == text
    require(is_canonical and is_length(len(data)), "a hash or signature is malformed")
    return data

def read_hash(text):
    return from_base64(text, lambda length: length == 32)

def read_hashes(proof):
    require(isinstance(proof, list), "a proof is no list")
    return [read_hash(text) for text in proof]

def matched(pattern, text):
    return re.fullmatch(pattern, text) if isinstance(text, str) else None

NAME = r"[^\s\ufeff\x00-\x1f\x7f-\x9f\ud800-\udfff+]+"

def read_key(vkey):
    parts = matched(rf"({NAME})\+([0-9a-f]{{8}})\+(\S+)", vkey)
    require(parts, "not a verifier key")
    name, key_id, encoded = parts.groups()
    data = from_base64(encoded, lambda length: length == 33)
    is_right = data[0] in (1, 4) and sha256(f"{name}\n".encode() + data)[:4].hex() == key_id
    require(is_right, f"the id of the key {name} is wrong")
    return {"vkey": vkey, "signer": (name, key_id), "is_witness": data[0] == 4, "bytes": data[1:]}

def open_note(note, keys):
    pattern = rf"(([^\n]+)\n(0|[1-9][0-9]{{0,17}})\n([^\n]+)\n(?:[^\n]+\n)*)\n((?:— {NAME} \S+\n)+)"
    parts = matched(pattern, note)
    is_plain = parts and all(each == "\n" or unicodedata.category(each) not in ("Cc", "Cs") for each in note)
    require(is_plain, "not a checkpoint in a signed note")
    text, origin, size, root, lines = parts.groups()
    require(read_hash(root) == sha256(b"") or size != "0", "an empty log has another root")
    signatures = {}
    for line in lines[:-1].split("\n"):
        _, name, encoded = line.split(" ")
        data = from_base64(encoded, lambda length: length > 4)
        require((name, data[:4].hex()) not in signatures, f"two signatures of {name}")
        signatures[name, data[:4].hex()] = data[4:]
    signed = []
    for key in keys:
        signature, is_witness = signatures.get(key["signer"]), key["is_witness"]
        if signature is None or (not is_witness and key["signer"][0] != origin):
            continue
        time = int.from_bytes(signature[:8], "big") if is_witness else 0
        message = f"cosignature/v1\ntime {time}\n{text}" if is_witness else text
        is_complete = len(signature) == (72 if is_witness else 64) and (0 < time < 2**63 or not is_witness)
        is_right = is_complete and is_signed(key["bytes"], signature[-64:], message.encode())
        require(is_right, f"the signature of {key['vkey']} is wrong")
        signed.append(key)
    is_of_log = any(not key["is_witness"] for key in signed)
    require(is_of_log, f"no known key of {origin} has signed the checkpoint")
    return {"origin": origin, "size": int(size), "root": root, "signed": [key["vkey"] for key in signed]}

def check_consistency(old, new, proof):
    require(old["origin"] == new["origin"], "two logs")
    roots = [read_hash(old["root"]), read_hash(new["root"])]
    if old["size"] == 0:
        is_one = not proof
    else:
        is_one = old["size"] <= new["size"] and consistency_roots(old["size"], new["size"], proof, roots[0]) == roots
    require(is_one, f"two histories: the {new['size']} entries do not begin with the earlier {old['size']}")

UUID, NUMBER, WORD = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "(?:0|-?[1-9][0-9]{0,17})", "[!-~]+"
TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z"
LEAF = (
    f"prepaid-credits/entry/v1\ncustomer (?P<customer>{UUID})\nentry (?P<entry>[1-9][0-9]{{0,17}})\ntime (?P<time>{TIME})"
    f"\nkind (?P<kind>[A-Z_]+)\ndelta (?P<delta>{NUMBER})\nbalance (?P<balance>{NUMBER})(?:\nheld-delta {NUMBER})?"
    f"(?:\nheld {NUMBER})?(?:\nadjusted {NUMBER})?(?:\norder (?P<order>{WORD}))?(?:\nreference (?P<reference>{WORD}))?"
    f"(?:\nhold (?P<hold>{UUID}))?(?:\nservice {WORD})?"
)

def has_exactly(value, *names):
    return isinstance(value, dict) and set(value) == set(names)

def read_entry(member, checkpoint):
    require(has_exactly(member, "index", "leaf", "proof"), "not an entry")
    parts = matched(LEAF, member["leaf"])
    require(parts, "an entry is not as the format says")
    require(matched("0|[1-9][0-9]{0,17}", member["index"]), "an index is not a number")
    index, proof = int(member["index"]), read_hashes(member["proof"])
    leaf_hash = sha256(b"\x00" + member["leaf"].encode())
    is_in = index < checkpoint["size"] and inclusion_root(leaf_hash, index, checkpoint["size"], proof)
    require(is_in == read_hash(checkpoint["root"]), f"the entry at index {index} is not in the checkpoint")
    numbers = {name: int(parts[name]) for name in ("entry", "delta", "balance")}
    lines = {name: value for name, value in parts.groupdict().items() if value is not None}
    return {**lines, **numbers, "index": index, "leaf": member["leaf"]}

def check_subject(subject, entries):
    span = subject.get("statement") if has_exactly(subject, "statement") else None
    wanted = dict(span) if has_exactly(span, "customer", "from", "to") else subject
    is_statement = wanted is not subject
    first, last = (wanted.pop("from"), wanted.pop("to")) if is_statement else (None, None)
    is_known = is_statement or has_exactly(subject, "order") or has_exactly(subject, "customer", "reference")
    is_known = is_known and all(isinstance(value, str) for value in wanted.values())
    require(is_known and entries, "not an order, a reference or a statement")
    if is_statement:
        is_number = all(type(each) in (int, float) and abs(each) < 2**53 for each in (first, last))
        is_whole = is_number and last == first + len(entries) - 1
        is_whole = is_whole and all(entry["entry"] == first + place for place, entry in enumerate(entries))
        require(is_whole, "not a whole statement")
    # The reference of a hold stands for all that became of that one hold.
    named = [each for each in entries if each["kind"] == "HOLD" and each.get("reference") == wanted.get("reference", "")]
    require(len(named) <= 1, "two holds with one reference")
    holds = [each["hold"] for each in named if "hold" in each]
    before = {"customer": entries[0]["customer"], "entry": 0, "index": -1, "balance": 0}
    for entry in entries:
        is_own = all(entry.get(name) == value or (name == "reference" and entry.get("hold") in holds)
                     for name, value in wanted.items())
        is_next = entry["entry"] > before["entry"] and entry["index"] > before["index"]
        is_next = is_next and entry["customer"] == before["customer"]
        require(is_own and is_next, f"entry {entry['entry']} does not belong there")
        follows = entry["entry"] == before["entry"] + 1
        is_sum = entry["balance"] == before["balance"] + entry["delta"]
        require(is_sum or not follows, f"the balance of entry {entry['entry']} does not follow from the one before")
        before = entry

def parse(text):
    try:
        # The last of several members with one name counts. NaN is no JSON: int() refuses it. It would refuse 5,000 digits, too,
        # also in a member that does not count; no number in a file has more than 16.
        return json.loads(text, parse_int=lambda digits: int(digits[:20]), parse_constant=int)
    except (ValueError, RecursionError):
        raise Refused("neither a signed note nor JSON") from None

SIGNER_NOT_KNOWN = "consistent, signer not known"

def verify(text, vkeys=()):
    """`vkeys` are trusted. If none of them is of a log, those in the receipt are used: the signer is not known."""
    given = [read_key(vkey) for vkey in vkeys]
    is_known = any(not key["is_witness"] for key in given)
    outcome = "verified" if is_known else SIGNER_NOT_KNOWN
    result = {"kind": "checkpoint", "result": outcome, "entries": [], "subject": None}
    if not text.startswith("{"):
        return {**result, "checkpoints": [open_note(text, given)]}
    content = parse(text)
    if content.get("format") == "prepaid-credits/consistency/v1" and has_exactly(content, "format", "from", "to", "proof"):
        old, new = open_note(content["from"], given), open_note(content["to"], given)
        check_consistency(old, new, read_hashes(content["proof"]))
        return {**result, "kind": "consistency proof", "checkpoints": [old, new]}
    is_receipt = content.get("format") == "prepaid-credits/receipt/v1"
    is_receipt = is_receipt and has_exactly(content, "checkpoint", "entries", "format", "keys", "subject")
    is_receipt = is_receipt and isinstance(content["entries"], list) and isinstance(content["keys"], list)
    require(is_receipt, "not a receipt, checkpoint or consistency proof")
    own = [key for key in map(read_key, content["keys"]) if not key["is_witness"]]
    checkpoint = open_note(content["checkpoint"], given if is_known else given + own)
    entries = [read_entry(member, checkpoint) for member in content["entries"]]
    check_subject(content["subject"], entries)
    return {**result, "kind": "receipt", "checkpoints": [checkpoint], "entries": entries, "subject": content["subject"]}

def check_one_history(files):
    """Each checkpoint is the beginning of the largest: proven by a consistency proof among the files, or of the same size."""
    checkpoints = sorted((each for file in files for each in file["checkpoints"]), key=lambda each: -each["size"])
    links = [file["checkpoints"] for file in files if file["kind"] == "consistency proof"]
    def same(one, other):
        return (one["size"], one["root"]) == (other["size"], other["root"])
    for place, each in enumerate(checkpoints):
        for other in checkpoints[:place]:
            if other["size"] == each["size"]:
                check_consistency(each, other, [])
        proven = checkpoints[:place] or [each]
        is_linked = any(same(old, each) and any(same(new, one) for one in proven) for old, new in links)
        require(is_linked or any(same(each, one) for one in proven), "the files are not proven to be of one history")

def check_entries(files):
    """A log that only grows can still have two leaves for one entry: two receipts of that entry show it."""
    seen = {}
    for entry in (entry for file in files for entry in file["entries"]):
        before = seen.setdefault((entry["customer"], entry["entry"]), entry)
        is_same = (before["leaf"], before["index"]) == (entry["leaf"], entry["index"])
        require(is_same, f"two versions of entry {entry['entry']}: at index {before['index']} and {entry['index']}")

def check_witnesses(files, vkeys):
    """Each given witness has cosigned a checkpoint of the history that has all entries."""
    for key in (key for key in map(read_key, vkeys) if key["is_witness"]):
        checkpoints = (each for file in files for each in file["checkpoints"])
        sizes = [each["size"] for each in checkpoints if key["vkey"] in each["signed"]]
        require(sizes, f"the witness {key['vkey']} has cosigned none of the checkpoints")
        is_seen = all(entry["index"] < max(sizes) for file in files for entry in file["entries"])
        require(is_seen, f"the witness {key['vkey']} has not cosigned a checkpoint with all entries yet")

def check_together(files, vkeys=()):
    check_one_history(files)
    check_entries(files)
    check_witnesses(files, vkeys)

def shown(text):
    """A file is hostile until it is verified: nothing of it may move the cursor of the terminal."""
    return text if text.isascii() and text.isprintable() else ascii(text)

def main():
    parser = argparse.ArgumentParser(description="Verifies receipts, checkpoints and consistency proofs.")
    parser.add_argument("files", metavar="FILE", nargs="+")
    parser.add_argument("--key", metavar="VKEY", action="append", default=[], help="a trusted key; repeatable")
    options = parser.parse_args()
    try:
        files = [verify(open(name, "rb").read().decode(), options.key) for name in options.files]
        check_together(files, options.key)
    except (Refused, OSError, UnicodeDecodeError) as error:
        print("NOT VERIFIED:", shown(str(error)), file=sys.stderr)
        return 1
    is_known = files[0]["result"] == "verified"
    for name, file in zip(options.files, files):
        outcome = f"verified {file['kind']}" if is_known else f"consistent {file['kind']}, signer not known"
        print(f"{shown(name)}: {outcome}", json.dumps(file["subject"]) if file["subject"] else "")
        for entry in file["entries"]:
            print(f"  {entry['time']}  entry {entry['entry']}  {entry['kind']} {entry['delta']:+}  balance {entry['balance']}")
        newest = file["checkpoints"][-1]
        signed = shown(", ".join(newest["signed"]))
        print(f"  checkpoint of {newest['size']} entries, root {newest['root']}, signed by {signed}")
    if not is_known:
        print("The key was taken from the receipt, where anyone can write one. Give the key that you know with --key.")
    return 0 if is_known else 3

if __name__ == "__main__":
    sys.exit(main())
