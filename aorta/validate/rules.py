"""The table of all rules."""

from aorta.validate import client, job, pair, workload
from aorta.validate.finding import ERROR, WARNING, Rule

FILE = (
    Rule("file.readable", ERROR, "a file can be read: a strict JSON object in UTF-8, of at most 256 MiB"),
    Rule("file.snapshot", ERROR, "it holds a snapshot, not a recording or other JSON"),
    Rule("file.place", ERROR, "the client's snapshot comes first, the workloads' after it"),
    Rule("file.twice", WARNING, "each file is given once"),
    Rule(
        "file.reasons",
        WARNING,
        "`partial_reasons` is empty; each reason is repeated, if no other finding quotes it",
    ),
)

RULES = {rule.id: rule for rule in (*FILE, *client.RULES, *workload.RULES, *pair.RULES, *job.RULES)}
