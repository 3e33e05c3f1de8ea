"""What people wrote and what went wrong in the example project: the texts of the files of `make_example.py`."""

from __future__ import annotations

FEEDBACK_HEAD = """\
# Feedback log

> Append-only. One row for each run that somebody reviewed. Score: of 100. Pattern: `quality-low`, `loop-excess`,
> `timeout`, `tool-fail`, `cost-spike`, `scope-drift`, `hallucination`, or `-`.

<!-- Copy this line:
| {{DATE}} | {{PIPELINE_NAME}} | {{AGENT_NAME}} | {{SCORE}}/100 | {{ISSUE}} | {{RESOLUTION}} | {{PATTERN_TAG}} |
-->

| Date | Pipeline | Agent | Score | Issue | Resolution | Pattern |
|:-----|:---------|:------|------:|:------|:-----------|:--------|
"""

#: Month and day, agent, score, issue, resolution, tags.
FEEDBACK = """\
09-29|agent-writer|52|Rewrote the install page six times, each time for another reader|Kept the second draft|loop-excess
09-29|style-critic|92|none|none|-
09-30|agent-reviewer|88|Clear remarks, one of them twice|none|-
09-30|data-collector|71|Warehouse query ran into its limit|Ran again by hand|timeout
09-30|security-checker|66|Right about the cookie flag, silent about the redirect|none|-
10-01|agent-writer|47|Went back and forth with the reviewer about a paragraph|Stopped after round 5|loop-excess
10-01|code-reader|81|none|none|-
10-02|planner|84|Plan was short and right|none|-
10-02|security-checker|64|Long list, short on reasons|Asked for reasons|-
10-05|agent-writer|44|Fifth draft undid the third|Merged by hand|loop-excess, quality-low
10-05|chart-maker|94|none|none|-
10-06|agent-researcher|83|Good sources|none|-
10-06|security-checker|63|Same remark in four files|Grouped by hand|-
10-06|agent-writer|50|Explained the option twice, differently|Second one dropped|quality-low
10-07|agent-writer|38|Changelog page: six times the usual rounds|Stopped by hand|loop-excess, cost-spike
10-07|security-checker|79|Found a token in a fixture|Fixture replaced|-
10-08|legacy-linter|68|Repeats what the style critic says|Asked to leave it out|-
10-08|security-checker|67|none|none|-
10-09|agent-reviewer|90|none|none|-
10-09|agent-writer|49|Two rounds about a comma|Ignored|loop-excess
10-12|data-collector|64|Source API answered 503 for ten minutes|Healed itself, late|timeout
10-12|agent-writer|55|Headings changed in each round|Style guide linked|loop-excess
10-12|security-checker|65|Missed the open port, found the weak hash|none|-
10-13|style-critic|95|none|none|-
10-13|agent-researcher|54|Cited a version that was never released|Removed; told ana@example.org|hallucination
10-14|agent-writer|46|No end of revisions: nobody had said what "done" is|Wrote acceptance criteria|loop-excess
10-14|report-editor|87|none|none|-
10-14|security-checker|62|Quoted a rule that does not apply here|Rule list linked|-
10-15|planner|57|Planned a refactoring that nobody had asked for|Plan cut to the diff|scope-drift
10-16|agent-writer|51|Still six rounds for the tutorial|Criteria go live on Monday|loop-excess
10-16|security-checker|72|Scanner was not installed on the runner|Installed|tool-fail
10-19|data-collector|66|Limit again, the query reads two years|Reads 90 days now|timeout
10-19|agent-writer|78|First run with acceptance criteria: two rounds|none|-
10-20|agent-writer|83|none|none|-
10-20|agent-reviewer|91|Remarks name the criterion they are about|none|-
10-20|security-checker|65|none|none|-
10-21|chart-maker|93|Axis labels finally readable|none|-
10-21|agent-writer|84|none|none|-
10-22|agent-writer|85|none|none|-
10-22|agent-translator|80|Good, but three days late for the page|none|-
10-22|security-checker|66|none|none|-
10-23|code-reader|83|none|none|-
10-23|agent-writer|84|Short, and nothing missing|none|-
10-26|agent-writer|88|none|none|-
10-27|code-reader|74|Same remarks as before, at twice the price|Watching it|cost-spike
10-27|security-checker|58|Stopped half-way in a large diff|Split by hand|timeout
10-27|agent-writer|87|none|none|-
10-28|report-editor|89|none|none|-
10-28|security-checker|51|Longer answers since the larger model, no better|Watching it|-
10-29|code-reader|62|Read the whole vendored tree, five times the usual run|Vendored folder excluded|cost-spike
10-29|security-checker|45|Gave up on the same tree|Reviewed by hand|timeout
10-30|agent-writer|86|none|none|-
10-30|planner|82|none|none|-
10-30|security-checker|48|Repeats the diff in its own words|none|quality-low
11-02|security-checker|49|Reported a hole in code that the diff removes|Dismissed|hallucination
11-02|style-critic|91|none|none|-
11-03|agent-reviewer|92|none|none|-
11-03|security-checker|46|Nothing about the new endpoint|Reviewed by hand|-
11-03|agent-writer|88|none|none|-
11-04|agent-writer|90|Best draft so far|none|-
11-04|security-checker|52|No right to read the audit repository|Asked for access|tool-fail
11-05|code-reader|66|Reviewed generated files, six times the usual run|Generated files excluded|cost-spike
11-05|data-collector|73|One retry, then fine|none|-
11-05|security-checker|53|Right in the end, after many detours|none|-
11-06|chart-maker|96|none|none|-
11-06|security-checker|50|Vague remarks, none of them about security|Prompt under review|quality-low
11-06|agent-writer|89|none|none|-
11-09|agent-researcher|86|none|none|-
11-09|agent-writer|87|none|none|-
11-10|report-editor|90|none|none|-
11-10|agent-fact-checker|82|New; found two dead links|none|-
11-10|security-checker|49|Still vague|Back to the smaller model?|-
11-11|agent-reviewer|93|none|none|-
"""

BUDGET = """\
# Budget

What the team agreed on in September.

- window: daily
- limit: 2400 cents
- warn_percent: 80
- hard_stop: false
- agent-writer: 900 cents/daily
- code-reader: 600 cents/daily
- code-reader: 10000 cents/monthly
"""

SETTINGS = """\
# Settings of this example; everything else is as it comes. `reportgen init` writes a file with every setting.

# Who should be at work, so that an agent that never ran is found as well.
[roster]
"doc-pipeline" = ["agent-researcher", "agent-writer", "agent-reviewer", "agent-translator"]
"code-review" = ["planner", "code-reader", "security-checker", "style-critic"]
"nightly-reports" = ["data-collector", "chart-maker", "report-editor", "archivist"]

# Some events of this team tell no cost. Its report leaves them unknown; by default a list of prices would price them.
[prices]
list = false

# Nine more detectors come with reportgen, switched off. This team wants them all.
[detectors]
budget_forecast.enabled = true
cost_per_point.enabled = true
expensive_model.enabled = true
healing_escalations.enabled = true
low_cache_use.enabled = true
recurring_pattern.enabled = true
run_cost_trend.enabled = true
score_regression.enabled = true
tool_failure_hotspot.enabled = true
"""

#: Day, minute of the run, agent, number of the run, error type, attempts made, what the step said.
INCIDENTS: tuple[tuple[int, int, str, int, str, int, str], ...] = (
    (2, 4, "data-collector", 1, "timeout", 2, "query timed out after 120 s"),
    (4, 6, "data-collector", 2, "api-error", 1, "503 from metrics API"),
    (9, 22, "agent-writer", 3, "content-quality", 3, "score 38, below the threshold"),
    (9, 5, "data-collector", 3, "api-error", 2, "503 from metrics API"),
    (14, 4, "data-collector", 1, "api-error", 4, "503 from metrics API, still"),
    (15, 8, "agent-researcher", 2, "content-quality", 1, "citation without a source"),
    (17, 17, "agent-writer", 3, "content-quality", 2, "seventh revision rejected"),
    (18, 7, "security-checker", 2, "tool-not-found", 1, "scanner: command not found"),
    (20, 6, "data-collector", 1, "timeout", 5, "query timed out after 120 s"),
    (23, 5, "data-collector", 2, "api-error", 1, "429 rate limit"),
    (27, 9, "chart-maker", 3, "timeout", 1, "renderer timed out"),
    (29, 8, "security-checker", 4, "timeout", 3, "deadline exceeded in a diff of 9,400 lines"),
    (31, 31, "security-checker", 5, "timeout", 6, "deadline exceeded in vendor/"),
    (31, 44, "code-reader", 5, "timeout", 2, "deadline exceeded in vendor/"),
    (33, 5, "data-collector", 1, "api-error", 3, "503 from metrics API"),
    (35, 10, "security-checker", 3, "content-quality", 2, "remark does not match the diff"),
    (37, 7, "security-checker", 2, "permission-denied", 1, "403 on the audit repository"),
    (38, 25, "code-reader", 2, "api-error", 4, "529 overloaded"),
    (39, 7, "security-checker", 2, "permission-denied", 1, "403 on the audit repository"),
    (41, 4, "data-collector", 1, "api-error", 1, "503 from metrics API"),
    (43, 5, "data-collector", 2, "timeout", 1, "query timed out after 120 s"),
)
