"""Tools that answer with a question first, and go on when the call comes again with what was asked for.

The state that they send along is sealed by the server's core, and held to its seal when it comes back.
"""

from __future__ import annotations

from typing import Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    ContentBlock,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    RequestParams,
    SamplingMessage,
    TextContent,
)

from tests.mcp.conformance_server.contents import text

Rounds = list[ContentBlock] | InputRequiredResult
Question = ElicitRequest | CreateMessageRequest | ListRootsRequest
STATE: Final = "asked"


def add_rounds(server: MCPServer[dict[str, Any]]) -> None:
    for tool in (elicitation, sampling, list_roots, request_state, multiple_inputs, multi_round, tampered_state):
        server.add_tool(tool, name=f"test_input_required_result_{tool.__name__}")
    server.add_tool(capabilities, name="test_input_required_result_capabilities")
    server.add_tool(elicitation, name="test_streaming_elicitation")


async def elicitation(ctx: Context[Any, Any]) -> Rounds:
    """Asks for a name and greets by it."""
    name = field(ctx, "user_name", "name")
    return [text(f"Hello, {name}!")] if name else ask(user_name=form("What is your name?", name="string"))


async def sampling(ctx: Context[Any, Any]) -> Rounds:
    """Asks the client's model for a capital."""
    answered = (ctx.input_responses or {}).get("capital_question")
    if isinstance(answered, CreateMessageResult) and isinstance(answered.content, TextContent):
        return [text(answered.content.text)]
    return ask(capital_question=model("What is the capital of France?", 100))


async def list_roots(ctx: Context[Any, Any]) -> Rounds:
    """Asks for the client's folders and lists them."""
    answered = (ctx.input_responses or {}).get("client_roots")
    if isinstance(answered, ListRootsResult):
        return [text("Roots: " + ", ".join(str(root.uri) for root in answered.roots))]
    return ask(client_roots=roots())


async def request_state(ctx: Context[Any, Any]) -> Rounds:
    """Asks for a yes, and answers only if its state came back as it was."""
    if ctx.request_state == STATE and field(ctx, "confirm", "ok") is not None:
        return [text("state-ok")]
    return ask(STATE, confirm=form("Please confirm", ok="boolean"))


async def tampered_state(ctx: Context[Any, Any]) -> Rounds:
    """Asks for a yes with a state that nobody may change."""
    return await request_state(ctx)


async def multiple_inputs(ctx: Context[Any, Any]) -> Rounds:
    """Asks a person, a model and for folders at once."""
    wanted = {"user_name", "greeting", "client_roots"}
    if ctx.request_state == STATE and wanted <= set(ctx.input_responses or {}):
        return [text("All inputs received")]
    name, greeting = form("What is your name?", name="string"), model("Generate a greeting", 50)
    return ask(STATE, user_name=name, greeting=greeting, client_roots=roots())


async def multi_round(ctx: Context[Any, Any]) -> Rounds:
    """Asks for a name, then for a color."""
    color, known = field(ctx, "step2", "color"), (ctx.request_state or "").removeprefix("name=")
    if color and known:
        return [text(f"{known} likes {color}")]
    if name := field(ctx, "step1", "name"):
        return ask(f"name={name}", step2=form("Step 2: What is your favorite color?", color="string"))
    return ask(STATE, step1=form("Step 1: What is your name?", name="string"))


async def capabilities(ctx: Context[Any, Any]) -> Rounds:
    """Asks only in ways that the client said it has."""
    declared = ctx.client_capabilities
    questions: dict[str, Question] = {}
    if declared is not None and declared.elicitation is not None:
        questions["user_name"] = form("What is your name?", name="string")
    if declared is not None and declared.sampling is not None:
        questions["greeting"] = model("Generate a greeting", 50)
    return ask(**questions) if questions and not ctx.input_responses else [text("Nothing to ask")]


def ask(state: str | None = None, /, **questions: Question) -> InputRequiredResult:
    """The answer that asks these questions; each has the name its reply comes under."""
    return InputRequiredResult(input_requests=dict(questions), request_state=state)


def form(message: str, **fields: str) -> ElicitRequest:
    """A question to the user, with the types of the fields that the reply must have."""
    properties = {name: {"type": kind} for name, kind in fields.items()}
    schema = {"type": "object", "properties": properties, "required": list(fields)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def model(prompt: str, max_tokens: int) -> CreateMessageRequest:
    """A question to the client's model."""
    asked = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[asked], max_tokens=max_tokens))


def roots() -> ListRootsRequest:
    """A question for the client's folders."""
    return ListRootsRequest(params=RequestParams())


def field(ctx: Context[Any, Any], question: str, name: str) -> object:
    """What the user replied to a question in one field, or None."""
    answered = (ctx.input_responses or {}).get(question)
    return (answered.content or {}).get(name) if isinstance(answered, ElicitResult) else None
