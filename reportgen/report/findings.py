"""Recommendations, their groups, and the outcome of every detector."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from reportgen.detectorfile import SLOT
from reportgen.detectors import Finding, as_text, evidence_columns
from reportgen.model import Detector, Evidence, Group, Recommendation, SubjectKind, Vfm
from reportgen.names import ALL_PIPELINES
from reportgen.report.view import View, quotient, six_places
from reportgen.wording import action_of, fill, shared_action


def recommendations(view: View) -> list[Recommendation]:
    """Return the findings shown, ranked: total, then effort S first, then saving share (unknown last), then id."""
    made: list[tuple[tuple[Any, ...], Recommendation]] = []
    for outcome in view.outcomes:
        for finding in outcome.findings:
            if not view.shows(finding.pipeline):
                continue
            one = _recommendation(view, finding)
            share = _share(finding)
            order = (-one.vfm.total, "SML".index(one.effort), share is None, -(share or Decimal(0)), one.id)
            made.append((order, one))
    made.sort(key=lambda pair: pair[0])
    return [replace(one, rank=rank) for rank, (_, one) in enumerate(made, 1)]


def _recommendation(view: View, finding: Finding) -> Recommendation:
    score = view.vfm[finding.finding_no]
    detector = finding.detector
    measure = view.measures.get(finding.pipeline) or view.project_measure()
    action = action_of(finding)
    about = finding.pipeline in view.not_measured
    hashed = view.hashes.key_and_hash("pipeline", finding.pipeline)[1][:6]
    return Recommendation(
        id=view.finding_id(finding),
        rank=0,
        detector=detector.file.id,
        issue=detector.issue,
        pipeline=finding.pipeline,
        subject=finding.subject,
        subject_kind=finding.subject_kind,
        group=f"{detector.file.id.replace('_', '-')}-{hashed}-{_digest(action)}",
        title=title_of(finding),
        finding=fill(finding, detector.finding, measure, about=about),
        action=fill(finding, action, measure, about=about),
        effort=detector.effort,
        observed=as_text(finding.observed),
        baseline=six_places(finding.baseline),
        threshold=six_places(finding.threshold),
        cost_measure=measure,
        saving=as_text(finding.saving),
        saving_share=quotient(finding.saving, finding.saving_of),
        saving_basis=finding.saving_basis,
        saving_words="" if finding.saving is None else fill(finding, detector.saving, measure, about=about),
        vfm=Vfm(
            total=score["total"],
            frequency=score["frequency"],
            failure_reduction=score["failure_reduction"],
            burden_reduction=score["burden_reduction"],
            cost_savings=score["cost_savings"],
        ),
        vfm_evidence={
            "frequency": score["frequency_evidence"],
            "failure_reduction": score["failure_evidence"],
            "burden_reduction": score["burden_evidence"],
            "cost_savings": score["cost_evidence"],
        },
        decision=score["decision"],
        labels=list(finding.labels),
        evidence=[
            Evidence(
                name=name,
                label=detector.columns.get(name, (name.replace("_", " "), None))[0],
                value=as_text(finding.row[name]),
                unit=detector.columns.get(name, ("", None))[1],
            )
            for name in evidence_columns(finding)
        ],
    )


def title_of(finding: Finding) -> str:
    """Return the one line that names what is wrong, the subject and the pipeline."""
    return title(finding.detector.issue, finding.subject, finding.subject_kind, finding.pipeline)


def title(issue: str, subject: str, kind: SubjectKind, pipeline: str) -> str:
    """Return the title of a finding about this subject of this pipeline."""
    about = f"{subject} in {pipeline}"
    if pipeline == ALL_PIPELINES:
        about = "all pipelines" if subject == ALL_PIPELINES else subject
    elif kind == "pipeline":
        about = f"the whole of {pipeline}"
    return f"{issue}: {about}"


def group_title(ones: Sequence[Recommendation]) -> str:
    """Return the title of findings that share an action, the best first."""
    best = ones[0]
    if len(ones) == 1:
        return best.title
    noun = "findings" if best.subject_kind == "other" else f"{best.subject_kind}s"
    return f"{best.issue}: {len(ones)} {noun} in {best.pipeline}"


def titles(view: View) -> dict[str, str]:
    """Return the title of every finding by its id, those of pipelines that are not shown included."""
    return {view.finding_id(finding): title_of(finding) for outcome in view.outcomes for finding in outcome.findings}


def groups(view: View, recommendations: Sequence[Recommendation]) -> list[Group]:
    """Return the ranked recommendations with those of one detector, pipeline and action as one row.

    The action of several findings is what they share of it: what the text says of one of them alone is left out.
    """
    by_id = {view.finding_id(finding): finding for outcome in view.outcomes for finding in outcome.findings}
    members: dict[str, list[Recommendation]] = {}
    for one in recommendations:
        members.setdefault(one.group, []).append(one)
    made = []
    for rank, (key, ones) in enumerate(members.items(), 1):
        best = ones[0]
        made.append(
            Group(
                group=key,
                rank=rank,
                detector=best.detector,
                issue=best.issue,
                pipeline=best.pipeline,
                title=group_title(ones),
                action=_shared(ones, by_id),
                effort=best.effort,
                total=best.vfm.total,
                decision=best.decision,
                ids=[one.id for one in ones],
            )
        )
    return made


def _shared(ones: Sequence[Recommendation], by_id: Mapping[str, Finding]) -> str:
    if len({one.action for one in ones}) == 1:
        return ones[0].action
    fills = [partial(fill, by_id[one.id], measure=one.cost_measure) for one in ones]
    return shared_action(action_of(by_id[ones[0].id]), fills)


def detectors(view: View, recommendations: Sequence[Recommendation]) -> list[Detector]:
    """Return every detector with its outcome for what is shown."""
    counts: dict[str, int] = {}
    for one in recommendations:
        counts[one.detector] = counts.get(one.detector, 0) + 1
    out = []
    for outcome in view.outcomes:
        d = outcome.detector
        found = counts.get(d.file.id, 0)
        status = outcome.status if outcome.status in ("skipped", "error") else ("found" if found else "clear")
        out.append(
            Detector(
                detector=d.file.id,
                title=d.title,
                issue=d.issue,
                doc=d.doc,
                action=SLOT.sub("…", d.action),
                status=status,
                findings=found,
                message=outcome.message,
                where=outcome.where,
                checked=outcome.checked,
                origin=d.file.origin,
                file=d.file.name,
                sql=d.file.text,
                parameters=list(d.parameters),
            )
        )
    return out


def _share(finding: Finding) -> Decimal | None:
    if finding.wait or finding.saving is None or not finding.saving_of:
        return Decimal(0) if finding.wait else None
    return finding.saving / finding.saving_of


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]
