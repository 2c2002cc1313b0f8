"""A plan as the text of a graph that others can draw."""

from __future__ import annotations

import re
import subprocess

from milepost.core.task import Plan, Task
from milepost.plan.graph.build_graph import plan
from milepost.plan.graph.drawing import drawn
from milepost.plan.options import Planning
from milepost.plan.repository_facts import RepositoryFacts
from milepost.roadmap import read
from tests.tools import needs

NASTY = 'end ] "quoted" --> <b>&amp;</b> {x} `code` #35; \\n | ; %% subgraph (a) $x _y_ \\'
ROADMAP = f"""\
- [x] 1.0 Done before
- [ ] 1.1 {NASTY}
  - Files: core.py
  - Depends on: 1.0
- [ ] 1.2 Command line
  - Files: cli.py
- [ ] 1.3 Circle
  - Depends on: 1.4
- [ ] 1.4 Circle, too
  - Depends on: 1.3
- [x] 1.5 Done and alone
"""
_NODE = re.compile(r'(?:    t\d+\["[^"]*"\]|  t\d+(?:\(\["[^"]*"\]\)|\["[^"]*"\]):::(?:done|never))')
_EDGE = re.compile(r'  t\d+ (?:-->|-\.->)(?:\|"[^"]*"\|)? t\d+')


def planned(planning: Planning | None = None) -> Plan:
    ground = RepositoryFacts(imports={"cli.py": {"core.py": "words.py"}})
    return plan(read(ROADMAP.encode()), planning or Planning(), ground)


def test_mermaid_gets_nodes_in_waves_and_arrows_with_their_reasons() -> None:
    lines = drawn(planned(), "mermaid").splitlines()
    assert lines[0] == "flowchart LR"
    nodes = [line for line in lines if _NODE.fullmatch(line)]
    edges = [line for line in lines if _EDGE.fullmatch(line)]
    frame = [line for line in lines[1:] if line not in nodes and line not in edges]
    assert all(re.fullmatch(r'  subgraph w\d+\["[\w ()]+"\]|  end|  classDef \w+ \S+', line) for line in frame)
    assert len(nodes) == 5, "all but the one that is done and nobody waits for"
    assert edges == [
        "  t1 --> t2",
        "  t5 --> t4",
        "  t4 --> t5",
        '  t2 -.->|"cli.py imports core.py through words.py"| t3',
    ]
    assert any("t1([" in node and node.endswith(":::done") for node in nodes)


def test_no_title_can_end_its_label() -> None:
    (label,) = [line for line in drawn(planned(), "mermaid").splitlines() if line.startswith("    t2[")]
    inside = label.removeprefix('    t2["').removesuffix('"]')
    assert not re.search(r'["<>{}\[\]|`]|#(?!\d+;)|;(?<!\d;)', inside)
    restored = re.sub(r"#(\d+);", lambda code: chr(int(code[1])), inside)
    assert restored == f"1.1  {NASTY[:59]}…"


def test_a_group_is_one_node() -> None:
    tasks = b"- [ ] 1.1 One\n  - Files: f\n- [ ] 1.2 Two\n  - Files: f\n- [ ] 1.3 Three\n  - Depends on: 1.2\n"
    found = drawn(plan(read(tasks), Planning(grouping="smart")), "mermaid")
    assert 't1["1.1 +1  Implement f#58; One#59; Two"]' in found
    assert "t2[" not in found and "t1 --> t3" in found


@needs("dot")
def test_graphviz_draws_the_text() -> None:
    text = drawn(planned(), "dot")
    done = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, check=True)
    assert done.stdout.count('class="node"') == 5 and done.stdout.count('class="edge"') == 4


def test_graphviz_gets_the_same_graph() -> None:
    lines = drawn(planned(), "dot").splitlines()
    assert (lines[0], lines[-1]) == ("digraph plan {", "}")
    quoted = r'"(?:[^"\\]|\\.)*"'
    known = (
        rf"  t\d+ -> t\d+(?: \[(?:label={quoted}, )?style=dashed\])?;|"
        rf"  (?:rankdir=LR|(?:node|edge) \[.*\]);|    label={quoted};|  subgraph cluster_\d+ \{{|  \}}"
        rf"|  ?  ?t\d+ \[label={quoted}(?:, style={quoted}, .*)?\];"
    )
    assert all(re.fullmatch(known, line) for line in lines[1:-1])
    assert "  t2 -> t3" in "\n".join(lines)


def test_a_title_with_signs_that_cannot_be_seen_is_drawn_without() -> None:
    task = Task(id="1", title="a\u202eb\x1b[31mc\nd", status="open", line=1)
    for text in (drawn(Plan(tasks=(task,), waves=(("1",),)), form) for form in ("mermaid", "dot")):
        assert not re.search(r"[\x1b\u202e]", text) and "c d" in text
