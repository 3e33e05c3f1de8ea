"""Lines of a Claude Code transcript among cost events, so that they are counted once and not more (INPUTS 3).

One response stands on several lines with growing usage, and is copied into other files by resume and fork: its message
id is the event id, and the line with the most output tokens counts.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from reportgen.inputs.records import Record

#: What the event id of a transcript's message begins with.
MESSAGE_ID: Final = "claude message "
#: The line holds no spend; the line repeats spend.
Verdict = Literal["no-spend", "repeats"]

_REPEATING = frozenset({"result", "progress", "cost-state"})


def transcript_event(record: Record) -> Record | Verdict | None:
    """Return the cost event of a transcript's line in canonical names, why it has none, or None: no transcript."""
    kind = record.get("type")
    message = record.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    session = "sessionId" in record or "session_id" in record
    if kind == "assistant" and session and isinstance(message, dict) and isinstance(usage, dict):
        return _event(record, message, usage)
    if (
        isinstance(kind, str)
        and kind in _REPEATING
        and session
        and ("uuid" in record or "subtype" in record or kind == "cost-state")
    ):
        return "repeats"
    if "isSidechain" in record or "leafUuid" in record or ("uuid" in record and "sessionId" in record):
        return "no-spend"
    return None


def _event(record: Record, message: dict[str, Any], usage: dict[str, Any]) -> Record | Verdict:
    model = message.get("model")
    if model == "<synthetic>" or record.get("isApiErrorMessage") is True:
        return "no-spend"
    event: Record = {
        "timestamp": record.get("timestamp"),
        "agent": _agent(record),
        "run_id": record.get("sessionId") or record.get("session_id"),
        "pipeline": _folder(record.get("cwd")),
        "model": model,
        "tool_name": _tool(message.get("content")),
        "cost_usd": record.get("costUSD"),
    }
    for name in ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"):
        event[name] = usage.get(name)
    message_id = message.get("id")
    if isinstance(message_id, str) and message_id:
        event["event_id"] = MESSAGE_ID + message_id
    return event


def _agent(record: Record) -> str:
    if record.get("isSidechain") is not True and not record.get("parent_tool_use_id"):
        return "main"
    agent = record.get("agentId")
    return agent if isinstance(agent, str) and agent else "subagent"


def _folder(path: object) -> str | None:
    if not isinstance(path, str):
        return None
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2] or None


def _tool(content: object) -> str | None:
    blocks = content if isinstance(content, list) else []
    names = (block.get("name") for block in blocks if isinstance(block, dict) and block.get("type") == "tool_use")
    return next((name for name in names if isinstance(name, str)), None)
