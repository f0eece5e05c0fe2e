"""Makes the pictures in docs/figures: the report page, the review page, and why a message was called spam.

    python scripts/pictures.py

It needs Chromium and the extra review, and uses the sample mail.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from chromium import Chromium, Page  # noqa: E402  the browser that the tests use

WIDTH = 1000  # pixels


def save(page: Page, name: str, height: int) -> None:
    """Write the page as docs/figures/NAME.png, cut at this number of pixels."""
    page.look(WIDTH)
    tall = min(height, page.run("document.documentElement.scrollHeight"))
    area = {"x": 0, "y": 0, "width": WIDTH, "height": tall, "scale": 1}
    image = page.ask("Page.captureScreenshot", clip=area, captureBeyondViewport=True)["data"]
    (ROOT / "docs/figures" / name).write_bytes(base64.b64decode(image))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.environ.update(SPAMNB_MODEL=f"{home}/model.spamnb", XDG_DATA_HOME=folder)
        spamnb = [sys.executable, "-m", "spamnb"]
        mail = [ROOT / "corpora/mail", ROOT / "corpora/unseen"]
        subprocess.run([*spamnb, "train", mail[0]], check=True, stdout=subprocess.DEVNULL)
        report = [*spamnb, "evaluate", "--folds", "10", "--report", home / "report.html"]
        subprocess.run([*report, mail[0]], check=True, stdout=subprocess.DEVNULL)
        for part in ("new", "cur", "tmp"):
            (home / "Maildir" / part).mkdir(parents=True)
        for path in sorted(mail[1].rglob("*.eml")):
            shutil.copy(path, home / "Maildir/new" / f"{path.parent.name}-{path.stem}")
        sort = [*spamnb, "sort", "--ledger", home / "ledger", home / "Maildir"]
        subprocess.run(sort, check=True, stdout=subprocess.DEVNULL)
        review = [*spamnb, "review", "--ledger", home / "ledger", "--port", "0"]
        server = subprocess.Popen(review, stderr=subprocess.PIPE, text=True)
        browser = Chromium(home / "browser")
        try:
            assert server.stderr is not None
            address = re.search(r"http://\S+", server.stderr.readline())
            assert address is not None
            page = browser.new_page()
            page.go(f"file://{home}/report.html")
            save(page, "report.png", 900)
            page.go(address[0])  # it holds the key, and leads to the list
            page.go(address[0] + "?show=spam")
            save(page, "review.png", 640)
            page.click("a.subject")
            page.run("document.querySelector('.location').remove()")  # where the mail lies is a temporary folder
            save(page, "explanation.png", 760)
        finally:
            browser.close()
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
