"""Prompts with each kind of content, one that asks first, and completion of their arguments."""

from __future__ import annotations

from typing import Any, Final

from mcp.server.mcpserver import Context, MCPServer, UserMessage
from mcp.server.mcpserver.prompts import Prompt
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    ImageContent,
    InputRequiredResult,
    PromptReference,
    ResourceTemplateReference,
)

from tests.mcp.conformance_server.contents import resource
from tests.mcp.conformance_server.rounds import ask, field, form
from tests.mcp.conformance_server.samples import PNG

WORDS: Final = ("paris", "park", "party")


def add_prompts(server: MCPServer[dict[str, Any]]) -> None:
    for prompt in (
        simple_prompt, prompt_with_arguments, prompt_with_embedded_resource, prompt_with_image,
        input_required_result_prompt,
    ):  # fmt: skip
        server.add_prompt(Prompt.from_function(prompt, name=f"test_{prompt.__name__}"))
    server.completion()(complete)  # type: ignore[no-untyped-call]


def simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


def prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with two arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


def prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803
    """A prompt that carries a resource."""
    embedded = resource(resourceUri, "text/plain", "Embedded resource content for testing.")
    return [UserMessage(embedded), UserMessage("Please process the embedded resource above.")]


def prompt_with_image() -> list[UserMessage]:
    """A prompt that carries a picture."""
    picture = ImageContent(type="image", data=PNG, mime_type="image/png")
    return [UserMessage(picture), UserMessage("Please analyze the image above.")]


async def input_required_result_prompt(ctx: Context[Any, Any]) -> list[UserMessage] | InputRequiredResult:
    """A prompt that asks what it is about."""
    context = field(ctx, "user_context", "context")
    if context:
        return [UserMessage(f"Work in this context: {context}")]
    return ask(user_context=form("What context should the prompt use?", context="string"))


async def complete(
    ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, context: CompletionContext | None
) -> Completion:
    """The words that begin as the argument does."""
    begun = [word for word in WORDS if word.startswith(argument.value)]
    return Completion(values=begun, total=len(begun), has_more=False)
