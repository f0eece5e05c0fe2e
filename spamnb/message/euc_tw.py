"""EUC-TW → text: planes 1 and 2 of CNS 11643, which Python has no codec for.

Both planes hold the characters of Big5 in nearly its order: a hundred runs of neighbours say which is which.
"""

from __future__ import annotations

import functools
import re

_PIECE = re.compile(rb"[\x00-\x7f]+|\x8e[\xa1-\xb0][\xa1-\xfe]{2}|[\xa1-\xfe]{2}|[\x80-\xff]")

# first:big5:n: the n characters (1 where it is left out) from number ``first`` of the plane on, 94 in a row, are those
# from number ``big5`` of Big5 on, 157 in a row.
_PLANE_1 = """
    0:0:5 6:6:15 21:23:2 24:22 29:29:44 73:74 74:73 75:75:22 98:98 100:100:27 127:128 128:127 129:129:19 148:149
    149:148 150:150:4 155:21 156:158:2 158:158:76 282:234:29 312:264 314:266:142 470:6101:20 3290:471:1412
    4702:1884:424 5126:1883 5127:2308:1876 7003:4571 7004:4184:387 7391:4572:525 7916:5286 7917:5097:105 8023:5203:83
    8106:5287:84 8190:5517 8191:5371:54 8245:5426 8246:5425 8247:5427:90 8337:5518:354
"""
_PLANE_2 = """
    0:6280:10 10:6291:33 43:6372 44:6324:48 92:6373:46 138:6586 139:6419:167 306:6587:1840 2146:9074 2147:8428:108
    2255:8537:537 2792:8427 2793:9075:100 2893:8536 2894:9175:399 3293:9575:1637 4930:11761 4931:11212:146 5077:11899
    5078:11358:287 5365:12508 5366:11645:116 5482:11762:137 5619:11900:104 5723:12425 5724:12004:222 5946:12227:198
    6144:12426:82 6226:12509:86 6312:12226 6313:12595:8 6321:12604:153 6474:12758:56 6530:13114 6531:12814:113
    6644:12603 6645:12927:142 6787:12757 6788:13069:45 6833:13115:71 6904:13380 6905:13186:194 7099:13381:490
    7589:13914 7590:13871:43 7633:13915 7634:13917:11 7645:13916 7646:13928:4
"""


class _Characters(dict[bytes, str]):
    """A pair of bytes, or four of them, → the character; ASCII as it is; U+FFFD for anything else."""

    def __missing__(self, piece: bytes) -> str:
        return piece.decode("ascii") if piece.isascii() else "\ufffd"


@functools.cache
def _characters() -> _Characters:
    found = _Characters()
    for plane, runs in ((1, _PLANE_1), (2, _PLANE_2)):
        for run in runs.split():
            first, big5, n = (*map(int, run.split(":")), 1)[:3]
            for i in range(n):
                row, column = divmod(first + i, 94)
                pair = bytes((0xA1 + row, 0xA1 + column))
                row, column = divmod(big5 + i, 157)
                char = bytes((0xA1 + row, column + (0x40 if column < 63 else 0x62))).decode("cp950", "replace")
                found[bytes((0x8E, 0xA0 + plane)) + pair] = char
                if plane == 1:
                    found[pair] = char
    return found


def decode_euc_tw(octets: bytes) -> str:
    """Text of ``octets``; U+FFFD for what is in neither plane.

    >>> decode_euc_tw(b"Taiwan: \\xc4\\xe3\\xc5\\xc6")
    'Taiwan: 中文'
    """
    return "".join(map(_characters().__getitem__, _PIECE.findall(octets)))
