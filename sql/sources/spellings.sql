/*---
title = "Every spelling, with the name it belongs to"
---*/
select
    s.spelling_no,
    s.kind,
    n.key_no,
    n.shown,
    n.name_key
from raw.names as s
inner join names as n on s.kind = n.kind and s.key_no = n.key_no
order by s.spelling_no
