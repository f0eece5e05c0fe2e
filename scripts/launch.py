"""Run commands for another process: read a command per line as JSON, and write its exit code and peak memory as JSON.

The kernel counts the memory of a parent at the moment of a fork as the child's peak. So commands are started by this
small process: a child starts at 10 MB, and at 50 MB if its parent has imported numpy.
"""

from __future__ import annotations

import json
import os
import sys

for line in sys.stdin:
    command, where, files = json.loads(line)
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, files[0], os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, files[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, files[2], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    os.chdir(where)
    try:
        child = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
        _, status, usage = os.wait4(child, 0)
        result = [os.waitstatus_to_exitcode(status), usage.ru_maxrss]
    except OSError as error:
        result = [127, 0, str(error)]
    print(json.dumps(result), flush=True)
