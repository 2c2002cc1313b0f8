"""What a heading says of the list below it: plans, what is done, or neither."""

from __future__ import annotations

import re
from typing import Literal

from milepost.roadmap.reading.titles import plain

Kind = Literal["plans", "done", "phase", "numbered", "other", ""]

# Each is all that a heading says, beside numbers, emoji and what follows a dash or stands in brackets.
_PLANS = r"""
    (?:(?:the|our|project|development|product|feature|release|technical|high[- ]level)\ )?roadmap(?:\ items)?
  | (?:what'?s\ |coming\ |up\ |do\ )?next(?:\ (?:steps|up|tasks|release|version|milestones?|actions|features))?
  | now(?:\ ?(?:[/,&]|and)\ ?(?:next|later).*)? | later | soon | coming\ soon
  | (?:remaining|outstanding|open|pending|current|upcoming|planned|future|proposed|immediate|short[- ]term|mid[- ]term
      |long[- ]term|high[- ]priority|medium[- ]priority|low[- ]priority)
      \ (?:work|tasks?|items?|features?|improvements?|enhancements?|plans?|ideas?|steps|changes|releases?|issues?|todos?
      |goals|slices|actions?|development|additions|milestones?|fixes|priorities)(?:\ items)?
  | planned | upcoming | remaining | pending | outstanding | future | backlog | (?:work\ )?in[- ]progress | wip
  | to[- ]?dos?(?:[- ]?list|\ items)? | things?\ to\ do | still\ to\ do | what'?s\ (?:left|missing|coming)
  | what\ (?:is\ left|ships) | (?:summary:?\ )?what\ to\ do\ next | left\ to\ do | not\ (?:yet\ )?(?:done|started)
  | tasks? | task\ list | work\ items | action\ items | actions | action\ plan | deliverables
  | (?:development\ )?milestones | phases
  | (?:implementation|migration|development|work|refactor(?:ing)?|execution|project|phased|build)
      \ (?:plan|steps|tasks|phases)
  | (?:high|medium|low|top|must|should|could)[- ]?(?:priority|have)? | priorit(?:y|ies) | p[0-4] | ideas | wish\ ?list
  | nice[- ]to[- ]haves? | known\ (?:issues|bugs) | bugs | (?:next|remaining)\ reviewed\ slices
  | pr[óo]xim[oa]s?(?:\ pasos|\ passos)? | pendientes? | por\ hacer | tareas(?:\ pendientes)? | etapas | fases
  | hoja\ de\ ruta
  | planificad[oa]s? | futuro | en\ (?:curso|progreso) | tarefas | a\ fazer | planejad[oa] | pendentes?
  | aufgaben | offen(?:e\ (?:punkte|aufgaben))? | geplant | als\ n[äa]chstes | n[äa]chste\ schritte
  | in\ arbeit | zukunft
  | (?:tâches|taches)?\ ?à\ faire | prochaines?\ (?:étapes?|versions?) | prévu | en\ cours | à\ venir
  | feuille\ de\ route
  | da\ fare | prossim[io]\ (?:passi|passaggi) | in\ corso | pianificato
  | 待办(?:事项)? | 计划(?:中)? | 路线图 | 下一步(?:计划)? | 未来(?:计划)? | 进行中 | 任务(?:列表)? | 未完成 | 开发计划
  | 予定 | 今後(?:の予定)? | ロードマップ | 未対応 | やること | タスク(?:一覧)? | 進行中 | 次のステップ
  | 할\ ?일(?:\ 목록)? | 예정(?:된\ 작업)? | 계획 | 로드맵 | 다음\ 단계 | 남은\ 작업 | 진행\ ?중 | 향후\ 계획
  | план(?:ы|ируется)? | задачи | дорожная\ карта | в\ работе | сделать
"""
_DONE = r"""
    (?:(?:already|recently|all)\ )?
      (?:done|completed?|shipped|released|finished|implemented|delivered|achieved|closed|fixed)
      (?:\ (?:work|tasks?|items?|features?|milestones?|phases?|releases?))?
  | change\ ?log | release\ history | history | what'?s\ (?:new|done) | archive | accomplishments
  | hech[oa]s? | completad[oa]s? | terminad[oa]s? | feit[oa]s? | concluíd[oa]s? | erledigt | fertig | abgeschlossen
  | fait | terminé(?:es?|s)? | fatto | completat[oi]
  | 已完成 | 完成 | 完了(?:済み)? | 済み | 완료(?:된\ 작업)? | готово | сделано
"""
_OTHER = re.compile(
    r"""
      \b(?: non-?goals? | out\ of\ scope | not\ (?:in\ scope|planned|enable) | criteria | metrics? | kpis? | risks?
        | mitigations? | notes? | references? | links | see\ also | resources | legend | glossary | background | context
        | motivation | overview | summary | introduction | vision | philosophy | principles? | rationale | decisions?
        | questions | assumptions? | constraints? | dependenc(?:y|ies) | prerequisites | usage | examples? | faq
        | contribut(?:ing|ors) | licen[cs]e | acknowledg\w+ | verification | validation | estimate[sd]? | timeline
        | deferred | rejected | wont?\ ?do | won't | credits | about | integration\ points | already\ made | benefits
        | status | goals? | open\ issues | architecture | stack )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PHASE = re.compile(
    r"""
      (?: phase | milestone | stage | sprint | epic | week | month | quarter | iteration | release | version | step
        | fase | etapa | étape | woche | semana | hito | meilenstein | sprint )\s*\#?\s*(?: \d | [ivx]+\b | [a-z]\b )
    | v?\d+\.\d+(?:\.\d+)*(?:\.?x)?\b | q[1-4](?:\b|\s*\d{4}) | 20\d\d(?:\s*q[1-4])?\b | h[12]\s*20\d\d
    | 第?\s*\d+\s*(?:阶段|단계|フェーズ) | (?:阶段|フェーズ|단계)\s*\d
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NUMBERED = re.compile(
    r"(?:(?:step|task|item|work item)\s+)?#?\d{1,3}(?:\.\d{1,3}){0,3}\s*[.:)–—-]?\s+\S", re.IGNORECASE
)
_LEADING = re.compile(r"^(?:[^\w(\[「]|\d{1,2}(?:\.\d{1,2})*[.):]?\s|[ivx]+\.\s)+(?=\w)", re.IGNORECASE)
_TRAILING = re.compile(r"\s*(?:\([^()]*\)|\s[-–—|·].*|:.*|[^\w)\]」]+)$")
LONGEST_HEADING = 400  # of what is compared with words: patterns that read it may take the square of that
_EITHER = {
    "plans": re.compile(_PLANS, re.IGNORECASE | re.VERBOSE),
    "done": re.compile(_DONE, re.IGNORECASE | re.VERBOSE),
}
_IN_A_NAME = re.compile(
    r"(?<![a-z])(?:road-?map|to-?do|backlog|tasks?|plan|fix_plan|next|milestones)(?![a-z])", re.IGNORECASE
)


def kind_of(heading: str) -> Kind:
    """What a heading, or a line before a list, is about; nothing where its words are not known."""
    text = plain(heading[:LONGEST_HEADING]).strip().rstrip(":").strip("*_ ")
    for words in (text, _bare(text)):
        for kind in ("done", "plans"):
            if _EITHER[kind].fullmatch(words):
                return "done" if kind == "done" else "plans"
    if _PHASE.match(_LEADING.sub("", text)) or _PHASE.match(text):
        return "phase"
    if _OTHER.search(text):
        return "other"
    return "numbered" if _NUMBERED.match(text) else ""


def is_about_plans(title: str) -> bool:
    """Whether the title of a document, or the name of a file, says that it holds plans."""
    return bool(_IN_A_NAME.search(plain(title[:LONGEST_HEADING])))


def is_nothing_else(title: str) -> bool:
    """Whether a title says that a document is a list of tasks, and nothing more."""
    return kind_of(title) == "plans"


def _bare(text: str) -> str:
    """The words of a heading without numbers, emoji, brackets and what follows a dash."""
    bare = _LEADING.sub("", text)
    while (shorter := _TRAILING.sub("", bare)) != bare and shorter:
        bare = shorter
    return bare.strip()
