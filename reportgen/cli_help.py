"""The longer texts of the command line's help. `\\b` keeps the lines of a paragraph as they are."""

from __future__ import annotations

_CODES = """\b
Exit codes:
  0    done
  1    done, but a detector failed (with --strict: or a line was rejected)
  2    usage, settings, or an output that would overwrite a file of yours
  3    no input found, or one can't be read; nothing is written
  4    --fail-on: a recommendation reached the score
  130  interrupted
"""
BUILD_EXAMPLES = (
    """\b
Examples:
  reportgen build                                 the current directory
  reportgen build demo --pipeline doc-pipeline    one pipeline of the project in demo/
  reportgen build --events 'logs/*.jsonl.gz'      other files; a glob stands in quotes
  reportgen build shop lab=../lab box/site        one report of several projects, each named
  reportgen build --window 30d --fail-on 75       a nightly check of the last 30 days
  reportgen build --single-file report.html       one page more, with everything in it
  reportgen build --json --quiet > result.json    for a machine

"""
    + _CODES
)
OPTIMIZER_EXAMPLES = (
    """\b
Examples:
  pipeline-optimizer
  pipeline-optimizer --pipeline doc-pipeline
  pipeline-optimizer --since 2026-11-01 --until 2026-11-30

"""
    + _CODES
)
GROUP_EXAMPLES = """\b
Start here:
  reportgen build             reads the logs of this directory, writes RECOMMENDATIONS.md and site/
  reportgen build --help      says where inputs are looked for, with examples
  reportgen inspect FILE      says how a file is understood, before any build
  reportgen doctor            says what a project lacks, what looks wrong, and the next command
  reportgen init              writes a reportgen.toml in which every setting is explained

\b
To get data in:
  reportgen hook              records the tool calls of Claude Code as cost events
  reportgen feedback add      adds a review to FEEDBACK.md
  reportgen heal exec         runs a step, and again where that is allowed

\b
To write detectors and formats of your own, in SQL:
  reportgen detectors         lists them; `reportgen detectors show ID` explains one
  reportgen new detector ID   writes one that works, with its test
  reportgen new format ID LOG drafts how the lines of a log of yours are read, with its test
  reportgen serve             shows the report, and every change as you save it
  reportgen check             reads every SQL file and says what is wrong with it
  reportgen test              runs the detectors' tests
  reportgen query "SELECT …"  asks the warehouse of the last build
"""

#: How to install the completion script of each shell.
INSTALL = {
    "bash": "reportgen completion bash > ~/.local/share/bash-completion/completions/reportgen",
    "zsh": "reportgen completion zsh > ~/.zfunc/_reportgen   (with ~/.zfunc in fpath, before compinit)",
    "fish": "reportgen completion fish > ~/.config/fish/completions/reportgen.fish",
}
