"""Control a headless Chromium by its debugging protocol on two pipes, as a person uses a page."""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path
from shutil import which
from typing import Any

PATIENCE = 180.0  # seconds to wait for an answer; long, because a busy machine must not fail a test


class Chromium:
    """A browser. Each page of ``new_page`` has its own cookies and storage, like a user of its own."""

    def __init__(self, folder: Path) -> None:
        chromium = which("chromium")
        assert chromium is not None
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        command = [
            chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--disable-dev-shm-usage", "--disable-background-networking", "--disable-extensions",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank",
        ]  # fmt: skip
        actions = [
            (os.POSIX_SPAWN_DUP2, to_read, 3), (os.POSIX_SPAWN_DUP2, to_write, 4),  # Chromium's numbers of the pipes
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]  # fmt: skip
        # In a session of its own, so that all its processes are killed together.
        self.process = os.posix_spawn(chromium, command, os.environ, file_actions=actions, setsid=True)
        os.close(to_read)
        os.close(to_write)
        self._buffer, self._number = b"", 0
        self.events: list[dict[str, Any]] = []

    def close(self) -> None:
        os.killpg(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self._to)
        os.close(self._from)

    def new_page(self) -> Page:
        context = self.ask("Target.createBrowserContext")["browserContextId"]
        target = self.ask("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        return Page(self, self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])

    def send(self, name: str, session: str = "", **options: Any) -> int:
        """Send a command whose answer nobody waits for, and return its number."""
        self._number += 1
        message = {"id": self._number, "method": name, "params": options, **({"sessionId": session} if session else {})}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        return self._number

    def ask(self, name: str, session: str = "", **options: Any) -> dict[str, Any]:
        """Return a command's answer. Events that arrive meanwhile are stored."""
        number = self.send(name, session, **options)
        while True:
            answer = self._next()
            if answer.get("id") == number:
                if "error" in answer:
                    raise LookupError(f"{name}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            readable, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(self._from, 1 << 20) if readable else b""
            if not data:
                raise TimeoutError("the browser ended or does not answer")
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)


class Page:
    """A page of the browser, with the actions of a person."""

    def __init__(self, browser: Chromium, session: str) -> None:
        self._browser, self._session = browser, session
        for name in ("Page.enable", "Runtime.enable", "Network.enable", "Log.enable"):
            self.ask(name)

    def ask(self, name: str, **options: Any) -> dict[str, Any]:
        return self._browser.ask(name, self._session, **options)

    def run(self, script: str) -> Any:
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise ValueError(answer["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        return answer["result"].get("value")

    def wait(self, script: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                if self.run(script):
                    return
            except (LookupError, ValueError):  # another page replaced the page
                pass
            assert time.monotonic() < deadline, (script, self.run("document.body.innerText.slice(0, 1000)"))
            time.sleep(0.05)

    def leave_by(self, act: Callable[[], Any]) -> None:
        """Call ``act``, which opens another page, and wait until this page is complete."""
        self.run("window.leaving = true")
        act()
        self.wait("window.leaving === undefined && document.readyState === 'complete'")

    def go(self, url: str) -> None:
        self.leave_by(lambda: self.ask("Page.navigate", url=url))

    def click(self, selector: str) -> None:
        """Click an element, and wait for the next page."""
        self.leave_by(lambda: self.run(f"document.querySelector({json.dumps(selector)}).click()"))

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, text=key if kind == "keyDown" else "")

    def text(self, selector: str = "body") -> str:
        return self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def texts(self, selector: str) -> list[str]:
        return self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((each) => each.textContent)")

    def look(self, width: int, dark: bool = False, height: int = 800) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media="screen", features=[scheme])
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def events_named(self, name: str) -> list[dict[str, Any]]:
        """Return the parameters of the page's events with this name."""
        events = [event for event in self._browser.events if event.get("sessionId") == self._session]
        return [event["params"] for event in events if event.get("method") == name]
