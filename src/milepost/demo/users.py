"""People who ask a service again and again over HTTP, each on a connection that is kept."""

from __future__ import annotations

import http.client
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import Self


class Users:
    """Users at work for as long as they are entered; `failed` is what none of them should see.

    As browsers do, they ask again when a connection that was kept is closed before anything was answered.
    """

    def __init__(self, port: int, path: str, *, users: int = 6, each_s: float = 0.05, posts: int = 0) -> None:
        self.answers: Counter[tuple[str, int | str]] = Counter()
        self.ms: list[float] = []
        self._port, self._path, self._each_s, self._posts = port, path, each_s, posts
        self.over = threading.Event()
        self._threads = [threading.Thread(target=self._use, args=(at, at / users)) for at in range(users)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        for thread in self._threads:
            thread.join()

    def failed(self, method: str) -> dict[int | str, int]:
        return {what: n for (how, what), n in self.answers.items() if how == method and what != 200}

    def count(self, method: str) -> int:
        return sum(n for (how, _), n in self.answers.items() if how == method)

    def _use(self, at: int, share: float) -> None:
        """Ask at a steady rate, however long an answer takes; with `posts`, each so many-th time a POST."""
        connection, fresh, asked = self._connection(), True, at
        due = time.monotonic() + self._each_s * share
        while not self.over.wait(max(0.0, due - time.monotonic())):
            due += self._each_s
            asked += 1
            method = "POST" if self._posts and asked % self._posts == 0 else "GET"
            started = time.monotonic()
            answer, connection, fresh = self._once(connection, method, fresh)
            self.answers[method, answer] += 1
            self.ms.append((time.monotonic() - started) * 1000)
        connection.close()

    def _once(
        self, connection: http.client.HTTPConnection, method: str, fresh: bool
    ) -> tuple[int | str, http.client.HTTPConnection, bool]:
        try:
            connection.request(method, self._path, b"x" if method == "POST" else None)
            answer = connection.getresponse()
            answer.read()
            return answer.status, connection, False
        except (OSError, http.client.HTTPException) as error:
            with suppress(OSError):
                connection.close()
            if fresh or method == "POST":
                return type(error).__name__, self._connection(), True
            return self._once(self._connection(), method, True)

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
