/* Small functions that the other files use. They are stored in the warehouse, so a pasted query finds them too. */

/* The amount as a whole number of 1e-12, for exact fractions of two amounts. Its whole and its broken part are taken
   apart first: as one decimal, an amount beyond 1e14 would not hold twelve more digits. */
create or replace macro pico(amount) as
cast(trunc(amount) as hugeint) * 1000000000000
+ cast((amount - trunc(amount)) * 1000000000000 as hugeint);

/* amount x part / whole, exactly, rounded half up at 12 decimal places. Plain `/` would go through a binary float. */
create or replace macro prorate(amount, part, whole) as
cast(
    case
        when part % 1 = 0 and whole % 1 = 0
            then
                (2 * pico(amount) * cast(part as hugeint) + cast(whole as hugeint))
                // (2 * cast(whole as hugeint))
        else (2 * pico(amount) * pico(part) + pico(whole)) // (2 * pico(whole))
    end as decimal(38, 0)
) * cast(0.000000000001 as decimal(12, 12));

/* A decimal without trailing zeros, for sentences. */
create or replace macro plainly(amount) as
case
    when contains(cast(amount as varchar), '.') then rtrim(rtrim(cast(amount as varchar), '0'), '.')
    else cast(amount as varchar)
end;

/* A number for sentences, its thousands apart, to two places without trailing zeros: `1,270`, `1,270.5`. */
create or replace macro grouped(amount) as
rtrim(rtrim(format('{:,.2f}', cast(amount as double)), '0'), '.');

/* `1 incident`, `2 incidents`, `1,270 incidents`. */
create or replace macro counted(amount, noun) as
concat(grouped(amount), ' ', noun, case when amount = 1 then '' else 's' end);

/* What stands before an amount that is not measured, or that an event of unknown cost is in: `≈`, `≥`, `≥ ≈` or ''. */
create or replace macro cost_mark(basis, incomplete) as
trim(concat(case when incomplete then '≥ ' end, case when basis in ('priced', 'estimated') then '≈' end));

/* Whether it is of the later half of the period, which begins with `middle`; null: nobody can tell. */
create or replace macro is_later(moment, middle) as moment >= middle;

/* When the last of some things was, and whether any is of the later half of the period (from `middle` on), which has
   `later` of what they are among ("10 reviews"); without a middle, only when. For the end of a sentence. */
create or replace macro lately(last_day, middle, later, noun) as
case
    when last_day is null then 'None of them has a date'
    when middle is null or is_later(last_day, middle) then concat('The latest was on ', cast(last_day as date))
    when coalesce(later, 0) = 0
        then concat('The latest was on ', cast(last_day as date), '; the later half of the period has no ', noun)
    else concat(
        'The latest was on ', cast(last_day as date), ', none in the later half of the period (', counted(later, noun),
        '): the cause may be mended already'
    )
end;

/* a / b to two places, for sentences only: comparisons cross-multiply. */
create or replace macro about(a, b) as
case
    when b = 0 then null
    else cast(
        cast(
            case
                when a % 1 = 0 and b % 1 = 0
                    then (200 * cast(a as hugeint) + cast(b as hugeint)) // (2 * cast(b as hugeint))
                else (200 * pico(a) + pico(b)) // (2 * pico(b))
            end as decimal(38, 0)
        ) * cast(0.01 as decimal(3, 2)) as decimal(18, 2)
    )
end;

/* What one bar of a chart over time stands for, so that a reader can tell them apart: `day`, or more of a long span. */
create or replace macro bar_of(first_day, last_day) as
case
    when last_day - first_day <= 200 then 'day'
    when last_day - first_day <= 1400 then 'week'
    when last_day - first_day <= 6000 then 'month'
    else 'year'
end;

/* The first day of the bar that a day belongs to. */
create or replace macro bar_start(a_day, bar) as cast(date_trunc(bar, a_day) as date);
