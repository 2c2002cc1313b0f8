"""Acts of several threads, committed as one: to bring a commit to the disk costs the same for one or for many."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from milepost.core.errors import StateUnwritable

T = TypeVar("T")


class Convoy:
    """Whoever comes first commits; who comes meanwhile waits, and the first of them takes all others along.

    `commit` runs an act as a transaction. Each caller comes back after the commit that has its act, with what its own
    act gave or raised: where one of them fails, all are taken back and each is done by itself.
    """

    def __init__(self, commit: Callable[[Callable[[], Any]], Any]) -> None:
        self._commit = commit
        self._changed = threading.Condition()
        self._waiting: list[_Seat[Any]] = []
        self._leading = False

    def carry(self, act: Callable[[], T]) -> T:
        """What comes of an act, once it is committed."""
        seat = _Seat(act)
        taken = self._wait_or_lead(seat)
        if taken:
            try:
                self._commit_all(taken)
            finally:
                self._hand_over(seat, taken)
        return seat.outcome()

    def _wait_or_lead(self, seat: _Seat[T]) -> list[_Seat[Any]]:
        """All that wait, for who is to commit them; none for whose own act was committed by another."""
        with self._changed:
            self._waiting.append(seat)
            try:
                while self._leading and not seat.settled:
                    self._changed.wait()
            except BaseException:  # interrupted: nobody needs to know what came of it
                self._waiting = [one for one in self._waiting if one is not seat]
                raise
            if seat.settled:
                return []
            self._leading = True
            taken, self._waiting = self._waiting, []
            return taken

    def _commit_all(self, taken: list[_Seat[Any]]) -> None:
        try:
            results = self._commit(lambda: [seat.act() for seat in taken])
        except StateUnwritable as error:
            for seat in taken:
                seat.fail(StateUnwritable(error.message, error.advice), error)
        except Exception as error:
            if len(taken) == 1:
                taken[0].fail(error)
                return
            for seat in taken:
                self._commit_one(seat)
        else:
            for seat, result in zip(taken, results, strict=True):
                seat.succeed(result)

    def _commit_one(self, seat: _Seat[Any]) -> None:
        try:
            seat.succeed(self._commit(seat.act))
        except Exception as error:
            seat.fail(error)

    def _hand_over(self, seat: _Seat[Any], taken: list[_Seat[Any]]) -> None:
        """Let the next one lead; those whom an interrupted leader left where they are wait on."""
        with self._changed:
            self._leading = False
            self._waiting[:0] = [one for one in taken if not one.settled and one is not seat]
            self._changed.notify_all()


class _Seat(Generic[T]):
    """One act, and what came of it."""

    def __init__(self, act: Callable[[], T]) -> None:
        self.act = act
        self.settled = False
        self._result: list[T] = []
        self._error: BaseException | None = None
        self._cause: BaseException | None = None

    def succeed(self, result: T) -> None:
        self._result, self.settled = [result], True

    def fail(self, error: BaseException, cause: BaseException | None = None) -> None:
        self._error, self._cause, self.settled = error, cause, True

    def outcome(self) -> T:
        if self._error is not None:
            raise self._error from (self._cause or self._error.__cause__)
        return self._result[0]
