"""Physical lines from any wrapping, and what stands on one line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from reportgen.inputs import lines as room
from reportgen.inputs.lines import CUT_SHORT, DAMAGED, LineFile, TooLong, content_digest
from reportgen.inputs.records import Line, LineReader

TEXT = b'{"a":1}\n\n{"b":"\xc3\xa9"}\r\n{"c":3}'


def lines_of(path: Path, content: bytes) -> tuple[list[bytes], LineFile]:
    path.write_bytes(content)
    file = LineFile(path)
    return list(file), file


# Wrapping


def test_a_line_is_what_stands_between_line_feeds(tmp_path: Path) -> None:
    found, file = lines_of(tmp_path / "f", TEXT)
    assert found == [b'{"a":1}', b"", b'{"b":"\xc3\xa9"}\r', b'{"c":3}']
    assert file.unterminated
    assert file.damage is None


@pytest.mark.parametrize("content", [b"", b"\n", b"a\n", b"a", b"\n\na\n\n"])
def test_lines_are_counted_as_an_editor_counts_them(tmp_path: Path, content: bytes) -> None:
    found, file = lines_of(tmp_path / "f", content)
    assert len(found) == content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
    assert file.unterminated == (bool(content) and not content.endswith(b"\n"))


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_a_packed_file_reads_as_the_plain_one_whatever_its_name(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    found, file = lines_of(tmp_path / "events.jsonl", pack(TEXT))
    assert found == TEXT.split(b"\n")
    assert file.damage is None


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_members_and_frames_follow_one_another(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    found, file = lines_of(tmp_path / "f", pack(b"one\ntw") + pack(b"o\nthree\n"))
    assert found == [b"one", b"two", b"three"]
    assert file.damage is None


def test_zero_padding_after_gzip_is_nothing(tmp_path: Path) -> None:
    found, file = lines_of(tmp_path / "f", gzip.compress(b"one\n") + bytes(512))
    assert (found, file.damage) == ([b"one"], None)


def test_a_skippable_zstd_frame_comes_first(tmp_path: Path) -> None:
    skippable = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"meta"
    found, file = lines_of(tmp_path / "f", skippable + zstandard.compress(b"one\n"))
    assert (found, file.damage) == ([b"one"], None)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_a_cut_file_gives_what_could_be_unpacked(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    # Text that does not shrink to nothing, in many blocks.
    content = b"".join(b"%d %x\n" % (n, n * 2654435761 % 2**64) for n in range(200_000))
    packed = pack(content)
    found, file = lines_of(tmp_path / "f", packed[: len(packed) * 2 // 3])
    whole = content.split(b"\n")
    assert file.damage == CUT_SHORT
    assert len(found) > 50_000
    assert found[:-1] == whole[: len(found) - 1]
    assert whole[len(found) - 1].startswith(found[-1])


def test_every_cut_of_a_small_gzip_is_noticed(tmp_path: Path) -> None:
    packed = gzip.compress(b'{"a":1}\n{"b":2}\n')
    for end in range(2, len(packed)):
        found, file = lines_of(tmp_path / "f", packed[:end])
        assert file.damage == CUT_SHORT, end
        assert b'{"a":1}\n{"b":2}\n'.startswith(b"\n".join(found))
    # Only the checksum is missing: all of the text is there.
    found, _ = lines_of(tmp_path / "f", packed[:-1])
    assert found == [b'{"a":1}', b'{"b":2}']


def test_a_wrong_checksum_loses_nothing_that_was_unpacked(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(b"one\ntwo\n"))
    packed[-5] ^= 1
    found, file = lines_of(tmp_path / "f", bytes(packed))
    assert (found, file.damage) == ([b"one", b"two"], DAMAGED)
    frame = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(b"one\ntwo\n"))
    frame[-1] ^= 1
    found, file = lines_of(tmp_path / "f", bytes(frame))
    assert (found, file.damage) == ([b"one", b"two"], DAMAGED)


def test_text_after_a_gzip_member_is_damage(tmp_path: Path) -> None:
    found, file = lines_of(tmp_path / "f", gzip.compress(b"one\n") + b"not gzip")
    assert (found, file.damage) == ([b"one"], DAMAGED)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_other_encodings_come_out_as_utf_8(tmp_path: Path, encoding: str) -> None:
    text = '{"a":"é😀"}\n{"b":2}\n'
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    for content in {mark + text.encode(encoding), text.encode(encoding)}:
        found, _ = lines_of(tmp_path / "f", content)
        assert [line.removeprefix("\ufeff".encode()) for line in found] == text.encode().splitlines()


def test_utf_16_in_gzip_in_small_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_GZIP_PIECE", 3)
    monkeypatch.setattr(room, "_READ", 3)
    text = '{"a":"é😀"}\n{"b":2}\n'
    for content in (gzip.compress(text.encode("utf-16")), text.encode("utf-16")):
        found, _ = lines_of(tmp_path / "f", content)
        assert [line.removeprefix("\ufeff".encode()) for line in found] == text.encode().splitlines()


def test_half_a_utf_16_character_is_no_utf_8(tmp_path: Path) -> None:
    content = '{"a":1}\n{"b'.encode("utf-16") + b"\x22"
    found, file = lines_of(tmp_path / "f", content)
    assert found[-1] == b'{"b\xff'
    assert file.unterminated
    lone = '{"a":1}\n{"b":"'.encode("utf-16") + b"\x3d\xd8" + '"}\n'.encode("utf-16-le")
    found, _ = lines_of(tmp_path / "f", lone)
    assert LineReader().read(found[1]).reason == "not valid UTF-8"


def test_a_utf_8_file_of_nul_bytes_is_not_taken_for_utf_16(tmp_path: Path) -> None:
    for broken in (b"\x00\x00\x00\x00", b"\x00\n\x00", b"{\x00", b"{\x00\x00\x00", b"\x00x\x00x", b"x\x00y\x00"):
        content = broken + b'\n{"b":2}\n'
        found, _ = lines_of(tmp_path / "f", content)
        assert found == content.split(b"\n")[:-1]


def test_a_line_over_the_limit_is_marked_and_the_next_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(room, "_READ", 300)
    found, _ = lines_of(tmp_path / "f", b"a\n" + b"b" * 5000 + b"\n" + b"c" * 900 + b"\n" + b"d" * 1200)
    assert found[0] == b"a"
    assert isinstance(found[1], TooLong)
    assert found[2] == b"c" * 900
    assert isinstance(found[3], TooLong)


def test_a_line_of_several_megabytes_is_one_line(tmp_path: Path) -> None:
    long = b'{"a":"' + b"x" * 5_000_000 + b'"}'
    found, _ = lines_of(tmp_path / "f", b"one\n" + long + b"\ntwo\n")
    assert [len(line) for line in found] == [3, len(long), 3]


def test_progress_counts_the_bytes_on_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(gzip.compress(b"x" * 1_000_000))
    pieces: list[int] = []
    list(LineFile(path, pieces.append))
    assert sum(pieces) == path.stat().st_size


def test_equal_content_has_one_digest_however_it_is_packed(tmp_path: Path) -> None:
    contents = {"plain": TEXT, "gz": gzip.compress(TEXT), "zst": zstandard.compress(TEXT), "other": TEXT + b"\n"}
    digests = {}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        digests[name] = content_digest(tmp_path / name)
    assert digests["plain"] == digests["gz"] == digests["zst"] != digests["other"]
    assert content_digest(tmp_path / "plain", 5) == content_digest(tmp_path / "other", 5)


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=300), st.integers(1, 40))
def test_lines_joined_again_are_the_file(content: bytes, size: int) -> None:
    # Bytes that begin like a packed or a UTF-16 file are another matter.
    content = b"x" + content
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(room, "_READ", size)
        path = Path(folder) / "f"
        path.write_bytes(content)
        if room._encoding(content[:4]) is None:
            file = LineFile(path)
            found = b"\n".join(file)
            assert found + (b"" if file.unterminated else b"\n") == content


# One line


def read_line(line: bytes | str) -> Line:
    return LineReader().read(line.encode() if isinstance(line, str) else line)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"a":1},', "not JSON: a comma after the object"),
        ('{"a":1,}', "not JSON: a trailing comma"),
        ('{"a":[1,]}', "not JSON: a trailing comma"),
        ('{"a":1', "not JSON: the record is cut short"),
        ('{"a":"x', "not JSON: the record is cut short"),
        ('{"a":{"b":1}', "not JSON: the record is cut short"),
        ('{"a":"set {}', "not JSON: the record is cut short"),
        ("{'a':1}", "not JSON: expecting property name enclosed in double quotes, at character 2"),
        ('{"a":1}}', "not JSON: more text after the value, from character 8"),
        ('{"a":1} // note', "not JSON: more text after the value, from character 9"),
        ('note {"a":1}', "not JSON: expecting value, at character 1"),
        ('{"a":1}{"b":2},', "not JSON: a comma after the object"),
        ('{"a":01}', "not JSON: expecting ',' delimiter, at character 7"),
        ('{"a":"b\tc"}', "not JSON: invalid control character, at character 8"),
        ("[1]", "not an object but an array"),
        ('[{"agent":"a"}]', "not an object but an array"),
        ('"text"', "not an object but a string"),
        ("12", "not an object but a number"),
        ("1.5", "not an object but a number"),
        ("true", "not an object but true or false"),
        ("null", "not an object but null"),
        (b'{"a":1}\x00', "raw NUL bytes"),
        (b'{"a":"\x00"}', "raw NUL bytes"),
        (b'{"a":"\xff"}', "not valid UTF-8"),
        (b'{"a":"\xed\xa0\xbd"}', "not valid UTF-8"),
        ("[" * 100_000, "nested deeper than 200 levels"),
        ('{"a":' * 201 + "1" + "}" * 201, "nested deeper than 200 levels"),
    ],
)
def test_what_is_refused_and_why(line: bytes | str, reason: str) -> None:
    found = read_line(line)
    assert (found.records, found.reason) == ([], reason)


@pytest.mark.parametrize("line", ["", " ", "\t\r", "\ufeff", " \ufeff \r"])
def test_blank_lines(line: str) -> None:
    found = read_line(line)
    assert (found.records, found.reason, found.broken) == ([], None, 0)


@pytest.mark.parametrize(
    ("line", "records", "broken"),
    [
        ('{"a":1}\r', [{"a": 1}], 0),
        ('\ufeff{"a":1}', [{"a": 1}], 0),
        ('{"a":1}\ufeff{"b":2}', [{"a": 1}, {"b": 2}], 0),
        ('  {"a":1}  {"b":2} ', [{"a": 1}, {"b": 2}], 0),
        ('{"a":1}{"b":2}{"c":3}', [{"a": 1}, {"b": 2}, {"c": 3}], 0),
        ('{"a":1,"a":2}', [{"a": 2}], 0),
        ('{"x":1,"te{"a":1}', [{"a": 1}], 1),
        ('{"x":{"y":1}{"a":1}', [{"a": 1}], 1),
        ('{"a":1}{"x":"y', [{"a": 1}], 1),
        ('{"a":1}{"x":"set {n} to {m', [{"a": 1}], 1),
        ('{"x":1,"te{"y":2,"te{"a":1}', [{"a": 1}], 2),
        ('{"a":1}{"x":tr{"b":2}', [{"a": 1}, {"b": 2}], 1),
        ('ng":3}{"a":1}', [{"a": 1}], 1),
        ("{}", [{}], 0),
        ('{"a":' * 200 + "1" + "}" * 200, [json.loads('{"a":' * 200 + "1" + "}" * 200)], 0),
        ('{"a":"' + "[" * 5000 + '"}', [{"a": "[" * 5000}], 0),
    ],
)
def test_what_is_taken_from_a_line(line: str, records: list[Any], broken: int) -> None:
    found = read_line(line)
    assert (found.records, found.broken, found.reason) == (records, broken, None)


def test_no_record_is_made_of_an_object_inside_a_torn_one() -> None:
    record = '{"ts":1,"agent":"a","usage":{"input_tokens":5,"more":[{"x":{}}]},"note":"{\\"agent\\":\\"b\\"}"}'
    for end in range(1, len(record)):
        found = read_line(record[:end])
        assert (found.records, found.unparsed) == ([], True), record[:end]


RECORDS = [
    '{"timestamp": "2026-05-02T09:14:07Z", "agent": "pl{n}er \\"q\\" \\u00e9", "usage": {"input_tokens": 12,'
    ' "x": [1, {"y": 2}]}, "ok": true, "n": null, "cost_usd": 0.12e-1}',
    '{"ts":1777713247.557,"role":"proposer","model":"m","tokens_in":1500,"tokens_out":800,"cost":0.02}',
]


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_torn_anywhere_costs_only_itself(record: str) -> None:
    other = record.replace("proposer", "critic").replace("pl{n}er", "writer")
    for end in range(1, len(record)):
        glued = read_line(record[:end] + other)
        assert glued.records == [read_line(other).records[0]], record[:end]
        assert glued.broken == 1
        after = read_line(other + record[:end])
        assert after.records == [read_line(other).records[0]], record[:end]
        assert after.broken == 1


@pytest.mark.parametrize(
    ("line", "record", "oddities"),
    [
        (r'{"a":"x\ud83d"}', {"a": "x\ufffd"}, ("lone-surrogate",)),
        (r'{"a":["\udc00",{"\ud800":1}]}', {"a": ["\ufffd", {"\ufffd": 1}]}, ("lone-surrogate",)),
        (r'{"a":"\ud83d\ude00"}', {"a": "😀"}, ()),
        (r'{"a\u0000":"x\u0000y"}', {"a": "xy"}, ("escaped-nul",)),
        (r'{"a":"\\u0000 \\ud83d"}', {"a": r"\u0000 \ud83d"}, ()),
        ('{"a":NaN,"b":[Infinity,-Infinity]}', {"a": None, "b": [None, None]}, ("bare-nan",)),
        (r'{"a":NaN,"b":"\u0000\ud800"}', {"a": None, "b": "\ufffd"}, ("bare-nan", "escaped-nul", "lone-surrogate")),
        ('{"a":"NaN"}', {"a": "NaN"}, ()),
    ],
)
def test_odd_values_are_mended_and_named(line: str, record: dict[str, Any], oddities: tuple[str, ...]) -> None:
    found = read_line(line)
    assert (found.records, found.oddities) == ([record], oddities)


def test_numbers_keep_every_digit() -> None:
    (record,) = read_line('{"a":0.1234567890123456789,"b":1e400,"c":1E-7,"d":12}').records
    assert {key: str(value) for key, value in record.items()} == {
        "a": "0.1234567890123456789",
        "b": "1e400",
        "c": "1E-7",
        "d": "12",
    }


@pytest.mark.parametrize("number", ["9" * 10_000, "1e99999999999999999999999", "-" + "1" * 4301])
def test_no_number_is_too_long_to_read(number: str) -> None:
    (record,) = read_line(f'{{"a":{number},"b":1}}').records
    assert record["b"] == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=5), JSON, max_size=4), min_size=1, max_size=3), st.booleans())
def test_every_json_object_is_read_as_json_reads_it(records: list[dict[str, Any]], ascii_only: bool) -> None:
    text = "".join(json.dumps(record, ensure_ascii=ascii_only) for record in records)
    try:
        line = text.encode()
    except UnicodeEncodeError:
        return
    found = LineReader().read(line)
    clean = [json.loads(json.dumps(record).replace("\\u0000", "")) for record in records]
    if "\\u" not in text:
        assert found.records == clean
    assert len(found.records) == len(records)
    assert (found.reason, found.broken) == (None, 0)


@settings(max_examples=120, deadline=None)
@given(st.binary(max_size=60) | st.text('{}[]",:\\ut0n1 é\ufeff', max_size=40).map(str.encode))
def test_any_bytes_have_one_fate(line: bytes) -> None:
    found = LineReader().read(line.replace(b"\n", b""))
    assert bool(found.records) + (found.reason is not None) <= 1
    assert found.records or not found.broken
