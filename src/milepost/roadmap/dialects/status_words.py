"""What words and emoji say of a task: that it is done, open, or skipped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

Status = Literal["done", "open", "skipped"]


def _listed(words: str) -> tuple[str, ...]:
    return tuple(" ".join(word.split()) for word in words.split("|"))


# With GitHub's codes for some of them.
_EMOJI: dict[Status, tuple[str, ...]] = {
    "done": _listed("""
        ✅ | ✔ | ☑ | ✓ | 🟢 | 🎉 | 💯 | :white_check_mark: | :heavy_check_mark: | :ballot_box_with_check:
    """),
    "open": _listed("""
        ⏳ | ⌛ | ⏰ | 🚧 | 🔜 | 🔲 | ⬜ | ◻ | ◽ | ☐ | ⚪ | 🟡 | 🟠 | 🔴 | 🔵 | ❌ | ✗ | ✘ | 🔄 | 🏗 | 📋 | 🚀
        | 📝 | 📅 | 🗓 | 💡 | ⚠ | 🔨 | 👷 | 🆕 | ❓ | :hourglass_flowing_sand: | :hourglass: | :construction:
        | :soon: | :white_large_square: | :x: | :white_circle: | :yellow_circle: | :red_circle:
        | :clipboard: | :memo: | :rocket:
    """),
    "skipped": _listed("""
        ⏭ | 🚫 | ⛔ | 🗑 | ⏸ | :fast_forward: | :no_entry_sign: | :no_entry:
    """),
}
# These adorn headings and lists more often than they tell a status: alone they are no sign of one.
ADORNING = frozenset(
    _listed("""
        🎉 | 💯 | 🔵 | 📋 | 🚀 | 📝 | 📅 | 🗓 | 💡 | ⚠ | 🔨 | 👷 | 🆕 | ❓ | :clipboard: | :memo: | :rocket:
    """)
)
_WORDS: dict[Status, tuple[str, ...]] = {
    "done": _listed("""
        done | complete | completed | finished | shipped | released | merged | implemented | closed
        | resolved | fixed | delivered | landed | live | deployed | already done | fully implemented | hecho
        | hecha | completado | completada | terminado | terminada | listo | lista | fait | faite | terminé
        | terminée | fini | livré | erledigt | fertig | abgeschlossen | umgesetzt | feito | feita
        | concluído | concluída | pronto | fatto | completato | completata | 完成 | 已完成 | 已实现 | 已上线
        | 完了 | 完了済み | 対応済み | 済 | 済み | 완료 | 완료됨 | 구현 완료 | готово | сделано | выполнено
        | завершено
    """),
    "open": _listed("""
        todo | to do | to-do | to be done | tbd | open | planned | planning | pending | in progress
        | in-progress | in_progress | inprogress | in development | in review | review | under review | wip
        | started | ongoing | active | current | not started | not yet started | not done | not yet
        | not implemented | backlog | queued | upcoming | up next | next | later | now | future | new
        | ready | ready to start | scheduled | proposed | draft | idea | blocked | partial | partially done
        | partly done | incomplete | missing | unresolved | reopened | doing | testing | exploring
        | pendiente | en curso | en progreso | planificado | planificada | planeado | por hacer | abierto
        | à faire | en cours | prévu | prévue | planifié | ouvert | offen | geplant | in arbeit | ausstehend
        | läuft | pendente | em andamento | em progresso | planejado | a fazer | da fare | in corso
        | pianificato | aperto | 待办 | 待开始 | 待处理 | 计划 | 计划中 | 规划中 | 进行中 | 开发中 | 未开始
        | 未完成 | 部分完成 | 未着手 | 未対応 | 未完了 | 進行中 | 作業中 | 対応中 | 予定 | 計画中 | 예정
        | 계획 | 진행중 | 진행 중 | 대기 | 대기중 | 미완료 | 미구현 | 미착수 | 부분 | 부분 완료
        | запланировано | в работе | в процессе | не начато | открыто
    """),
    "skipped": _listed("""
        skipped | cancelled | canceled | won't do | wont do | won't fix | wontfix | dropped | rejected
        | obsolete | abandoned | deferred | postponed | not planned | superseded | duplicate | on hold
        | paused | out of scope | cancelado | cancelada | aplazado | annulé | reporté | abgebrochen
        | verschoben | verworfen | adiado | annullato | 已取消 | 暂缓 | 中止 | 保留 | 취소 | 보류 | отменено
        | отложено
    """),
}
# In a table's cell there is nothing but the status, so that shorter ways to say it are understood, too.
_IN_CELLS: dict[Status, tuple[str, ...]] = {
    "done": _listed("""
        yes | y | x | [x] | true | ok | sí | si | oui | ja | sim | 是 | 예
    """),
    "open": _listed("""
        no | n | [ ] | false | non | nein | não | 否 | 아니오 | - | – | — | ? | partial | wait
    """),
    "skipped": _listed("""
        n/a | [-] | [~]
    """),
}
# In a sentence these say something else as often as a status.
_AMBIGUOUS = frozenset(
    _listed("""
        closed | resolved | fixed | landed | live | listo | lista | fait | faite | fini | pronto | tbd
        | open | planning | review | started | ongoing | active | current | backlog | queued | upcoming
        | next | later | now | future | new | ready | scheduled | proposed | draft | idea | partial
        | missing | doing | testing | exploring | abierto | ouvert | offen | aperto | 待处理 | 计划 | 予定
        | 계획 | 대기 | 부분 | duplicate | paused | 保留
    """)
)
_DECORATION = re.compile(r"[*_`~]+|\ufe0f")
_PERCENT = re.compile(r"~?(\d{1,3})\s?%|(\d{1,4})\s?/\s?(\d{1,4})")


def _longest_first(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(set(words), key=len, reverse=True))


STATUS_OF_EMOJI: dict[str, Status] = {sign: status for status, signs in _EMOJI.items() for sign in signs}
STATUS_OF_WORD: dict[str, Status] = {word: status for status, words in _WORDS.items() for word in words}
_STATUS_OF_CELL = {word: status for status, words in _IN_CELLS.items() for word in words} | STATUS_OF_WORD
EMOJI = rf"(?:{_longest_first(STATUS_OF_EMOJI)})\ufe0f?"
WORD = rf"(?:{_longest_first(word for word in STATUS_OF_WORD if word not in _AMBIGUOUS)})"
_ANY_WORD = rf"(?:{_longest_first(STATUS_OF_WORD)})"
_WORD_AT_START = re.compile(rf"({_ANY_WORD})(?!\w)", re.IGNORECASE)
_EMOJI_AT_START = re.compile(rf"({EMOJI})")
_IN_BRACKETS_AT_END = re.compile(rf"[(\[]\s*({_ANY_WORD})\s*[)\]]\.?$", re.IGNORECASE)


def status_of_emoji(sign: str) -> Status:
    """What one of the known emoji says."""
    return STATUS_OF_EMOJI[sign.removesuffix("\ufe0f")]


def status_of_word(word: str) -> Status:
    """What one of the known words says."""
    return STATUS_OF_WORD[word.lower()]


def status_of_cell(cell: str) -> Status | None:
    """What the cell of a status column says; None where that is not understood."""
    text = " ".join(_DECORATION.sub("", cell).split())
    if exact := _STATUS_OF_CELL.get(text.lower().strip(" .!")):
        return exact
    if emoji := _EMOJI_AT_START.match(text):
        # `⚠️ Done`: the word is the one to trust where an emoji only adorns it.
        rest = text[emoji.end() :].strip()
        spoken = _WORD_AT_START.match(rest)
        return status_of_word(spoken[1]) if spoken else status_of_emoji(emoji[1])
    if bracketed := _IN_BRACKETS_AT_END.search(text):
        return status_of_word(bracketed[1])
    if word := _WORD_AT_START.match(text):
        return status_of_word(word[1])
    if progress := _PERCENT.search(text):
        percent, part, whole = progress.groups()
        return "done" if percent == "100" or (whole is not None and int(part) >= int(whole) > 0) else "open"
    return status_of_emoji(last[1]) if (last := _EMOJI_AT_START.match(text[-2:].strip())) else None
