"""scripts/demo: each step shows what it says."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Makes an environment whose programs are itself and spamnb as it is here.
PYTHON = f"""#!/bin/sh
if [ "$2" = venv ]; then
    mkdir -p "$3/bin" && cp "$0" "$3/bin/python"
    printf '#!/bin/sh\\nexec "{sys.executable}" -m spamnb "$@"\\n' > "$3/bin/spamnb" && chmod +x "$3/bin/spamnb"
fi
"""


def test_the_demo_runs_to_its_end(tmp_path: Path) -> None:
    for name in ("corpora", "pyproject.toml", "spamnb"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "scripts").mkdir()
    for name in ("build_backend.py", "build_binding.py", "demo", "environment"):
        (tmp_path / "scripts" / name).write_bytes((ROOT / "scripts" / name).read_bytes())
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    home = tmp_path / "home"
    others = {name: value for name, value in os.environ.items() if not name.startswith(("SPAMNB_", "XDG_"))}
    own = {"HOME": str(home), "PYTHON": str(python), "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    ran = subprocess.run(["bash", tmp_path / "scripts/demo"], env={**others, **own}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "from unseen/ham: ham" in ran.stdout
    assert "spamnb export writes the same counts and weights as before" in ran.stdout
    assert ran.stdout.index("learned 1 of 1 as spam") < ran.stdout.index("forgot 1 of 1 from spam")
    assert "rec.gardening" in ran.stdout.partition("spamnb words")[2]
    assert not list(tmp_path.glob("spamnb-demo-*")), "its models are removed"
    assert not home.exists(), "a person's own ledger has nothing of it"
