/*---
title = "The VFM pre-score of each finding"
doc = """
One row per finding: four parts of 0 to 25, whole numbers rounded down, with their evidence in words. It is exact:
a place x = a / b lies between two points c0 / d0 and c1 / d1, and the score is
y0 + (y1 - y0) x (x - c0 / d0) / (c1 / d1 - c0 / d0), worked out in whole numbers.
"""
---*/
with spans as (
    select
        pipeline,
        span_microseconds
    from pipelines
    union all
    -- The whole project has the span of all its pipelines together.
    select
        '(all pipelines)',
        greatest(date_diff('microsecond', min(first_time), max(last_time)), 86400000000)
    from pipelines
),

places as (
    -- Where each finding stands on each of the three lines, as a fraction x_num / x_den.
    select
        f.finding_no,
        'rate' as part,
        cast(f.occurrences as hugeint) * 86400000000 as x_num,
        cast(s.span_microseconds as hugeint) as x_den
    from findings as f
    inner join spans as s on f.pipeline = s.pipeline
    union all
    select
        finding_no,
        'runs_share',
        cast(affected_runs as hugeint),
        cast(total_runs as hugeint)
    from findings
    where total_runs > 0
    union all
    select
        finding_no,
        'cost_share',
        pico(saving),
        pico(saving_of)
    from findings
    where saving is not null and saving_of > 0
),

segments as (
    select
        *,
        lead(x_num) over line as next_num,
        lead(x_den) over line as next_den,
        lead(points) over line as next_points,
        lead(meaning) over line as next_meaning
    from points
    window line as (partition by part order by points)
),

scored as (
    select
        p.finding_no,
        p.part,
        max(
            case
                when s.next_num is null then s.points
                else s.points + (
                    (s.next_points - s.points) * (p.x_num * s.x_den - s.x_num * p.x_den) * s.next_den
                ) // (p.x_den * (cast(s.next_num as hugeint) * s.x_den - cast(s.x_num as hugeint) * s.next_den))
            end
        ) as score,
        -- The two points between which it lies, so that a reader can work the score out again.
        max(
            case
                when s.next_num is null or p.x_num * s.x_den = s.x_num * p.x_den
                    then concat(
                        case when p.x_num * s.x_den = s.x_num * p.x_den then '' else 'over ' end,
                        s.meaning, ' (', s.points, ')'
                    )
                else concat(
                    'between ', s.meaning, ' (', s.points, ') and ', s.next_meaning, ' (', s.next_points, ')'
                )
            end
        ) as words
    from places as p
    inner join segments as s
        on
            p.part = s.part
            and p.x_num * s.x_den >= s.x_num * p.x_den
            and (s.next_num is null or p.x_num * s.next_den < s.next_num * p.x_den)
    group by p.finding_no, p.part
),

limits as (
    select
        max(high) filter (where name = 'single_occurrence') as single_occurrence,
        max(high) filter (where name = 'person_incidents') as person_incidents
    from bands
    where kind = 'limit'
),

firsts as (
    -- Below the first point of a line nothing counts.
    select
        part,
        arg_min(meaning, points) as meaning,
        min(points) as points
    from points
    group by part
),

failures as (
    -- One row per finding: the highest band that has a count.
    select
        c.finding_no,
        b.name as band,
        case b.name
            when 'low_scores' then c.low_scores
            when 'failures' then c.failures
            else c.escalated
        end as counted,
        b.low,
        b.high
    from subject_counts as c
    cross join bands as b
    where b.kind = 'failure'
    qualify
        counted > 0
        and row_number() over (
            partition by c.finding_no
            order by counted > 0 desc, b.low desc
        ) = 1
),

parts as (
    select
        f.finding_no,
        f.pipeline,
        f.occurrences,
        f.occurrences_name,
        f.affected_name,
        f.affected_runs,
        f.total_runs,
        f.saving,
        f.saving_of,
        f.saving_basis,
        f.wait,
        coalesce(list_contains(f.labels, 'new'), false) as is_new,
        f.burden,
        s.span_microseconds,
        c.low_scores,
        c.tagged,
        c.blocked,
        c.escalated,
        c.by_person,
        fl.band,
        fl.counted,
        fl.low as band_low,
        fl.high as band_high,
        l.single_occurrence,
        l.person_incidents,
        coalesce(r.score, 0) as plain_rate_score,
        r.words as rate_words,
        coalesce(sh.words, concat('counts from ', fi.meaning, ' (', fi.points, ') on')) as share_words,
        cs.words as cost_words,
        f.failure_reduction as declared_failure,
        f.counts_failures,
        case
            when f.occurrences = 1 then least(coalesce(r.score, 0), l.single_occurrence)
            else coalesce(r.score, 0)
        end as rate_score,
        coalesce(sh.score, 0) as share_score,
        coalesce(cs.score, 0) as cost_score,
        greatest(
            f.failure_reduction,
            coalesce(least(fl.low + fl.counted - 1, fl.high), 0)
        ) as failure_score,
        least(c.by_person, l.person_incidents) as person_points
    from findings as f
    inner join spans as s on f.pipeline = s.pipeline
    inner join subject_counts as c on f.finding_no = c.finding_no
    cross join limits as l
    left join failures as fl on f.finding_no = fl.finding_no
    left join scored as r on f.finding_no = r.finding_no and r.part = 'rate'
    left join scored as sh on f.finding_no = sh.finding_no and sh.part = 'runs_share'
    left join scored as cs on f.finding_no = cs.finding_no and cs.part = 'cost_share'
    left join firsts as fi on fi.part = 'runs_share'
),

totals as (
    select
        *,
        cast(case when wait then 0 else greatest(rate_score, share_score) end as integer) as frequency,
        cast(failure_score as integer) as failure_reduction,
        cast(least(burden + person_points, 25) as integer) as burden_reduction,
        cast(case when wait or saving is null then 0 else cost_score end as integer) as cost_savings
    from parts
)

select
    t.finding_no,
    t.frequency,
    t.failure_reduction,
    t.burden_reduction,
    t.cost_savings,
    t.frequency + t.failure_reduction + t.burden_reduction + t.cost_savings as total,
    (
        select b.name
        from bands as b
        where
            b.kind = 'decision'
            and t.frequency + t.failure_reduction + t.burden_reduction + t.cost_savings between b.low and b.high
    ) as decision,
    case
        when t.is_new then 'new: not counted until it has seen more runs → 0'
        when t.wait then 'not counted, as its detector says → 0'
        else concat(
            grouped(t.occurrences), ' ', t.occurrences_name, ' in ',
            grouped(about(t.span_microseconds, 86400000000)),
            case when t.span_microseconds = 86400000000 then ' day, ' else ' days, ' end,
            grouped(about(cast(t.occurrences as hugeint) * 86400000000, t.span_microseconds)), ' a day: ',
            t.rate_words,
            case
                when t.rate_score < t.plain_rate_score
                    then concat(
                        ' would be ', t.plain_rate_score, ', but one in all counts at most ', t.single_occurrence
                    )
                else ''
            end,
            ' → ', t.rate_score,
            case
                when t.total_runs > 0
                    then concat(
                        '. ', grouped(t.affected_runs), ' of ', grouped(t.total_runs), ' ', t.affected_name, ', ',
                        plainly(about(cast(t.affected_runs as hugeint) * 100, t.total_runs)), '%: ', t.share_words,
                        ' → ', t.share_score, '. The larger counts'
                    )
                else ''
            end
        )
    end as frequency_evidence,
    case
        when t.failure_reduction = 0 and not t.counts_failures
            then 'not counted: the action would prevent no failure → 0'
        when t.failure_reduction = 0 then 'no low score, failure tag or incident of the subject → 0'
        when t.declared_failure >= t.failure_reduction
            then concat('declared by the detector → ', t.failure_reduction)
        else concat(
            case t.band
                when 'low_scores' then concat(counted(t.low_scores, 'review'), ' below the score flag')
                when 'failures'
                    then
                        concat(
                            counted(t.tagged, 'review'), ' tagged timeout, tool-fail or hallucination, and ',
                            counted(t.blocked, 'blocked incident')
                        )
                else counted(t.escalated, 'escalated incident')
            end,
            ': ', t.band_low, ' for the first, one more for each other, at most ', t.band_high,
            ' → ', t.failure_reduction
        )
    end as failure_evidence,
    concat(
        t.burden, ' declared by the detector, ',
        case
            when not t.counts_failures then 'incidents are not counted'
            when t.by_person = 0 then 'no incident that a person handled'
            else concat(
                'plus ', t.person_points, ' for ', counted(t.by_person, 'incident'), ' that a person handled',
                case when t.by_person > t.person_points then concat(' (at most ', t.person_incidents, ')') else '' end
            )
        end,
        ' → ', t.burden_reduction
    ) as burden_evidence,
    case
        when t.is_new then 'new: not counted until it has seen more runs → 0'
        when t.wait then 'not counted, as its detector says → 0'
        when t.saving is null or coalesce(t.saving_of, 0) = 0
            then 'unknown: nothing tells how much cost would go away → 0'
        else concat(
            plainly(about(pico(t.saving) * 100, pico(t.saving_of))), '% of ',
            case when t.pipeline = '(all pipelines)' then 'all cost' else 'the pipeline''s cost' end,
            ' (', t.saving_basis, '): ', t.cost_words, ' → ', t.cost_savings
        )
    end as cost_evidence
from totals as t
order by t.finding_no
