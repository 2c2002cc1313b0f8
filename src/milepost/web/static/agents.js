// The agents that a person may name; others can be typed.
export const AGENTS = ['claude', 'codex', 'aider', 'tool', 'code'];
