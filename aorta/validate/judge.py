"""Asking all rules of a client's document and of those of its workloads."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aorta.model.vocabulary import WORKLOADS
from aorta.validate import client as client_rules
from aorta.validate import job as job_rules
from aorta.validate import pair as pair_rules
from aorta.validate import workload as workload_rules
from aorta.validate.document import Document, ForeignError, UnreadableError
from aorta.validate.finding import ERROR, WARNING, Finding, Rule, Said, label
from aorta.validate.options import Options
from aorta.validate.pair import Compared
from aorta.validate.reasons import reasons_of
from aorta.validate.relation import Standing, standing
from aorta.validate.rules import RULES
from aorta.validate.value import shown

#: The most findings of one rule that are told one by one.
MOST = 100

CLIENT_FIRST = "give the client's snapshot first, then the workloads'"

#: What was read: a document, or why there is none.
Read = Document | UnreadableError


@dataclass
class Verdict:
    """What the gate says: ``asked`` are the rules that could be asked at all."""

    client: str
    workloads: tuple[str, ...]
    options: Options
    findings: list[Finding] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    standings: list[Standing] = field(default_factory=list)
    compared: list[Compared] = field(default_factory=list)
    #: Of each file the fields whose reasons a finding tells.
    quoted: dict[str, set[str]] = field(default_factory=dict)

    def count(self, severity: str) -> int:
        """Return how many findings have a severity."""
        return sum(finding.severity == severity for finding in self.findings)

    @property
    def passed(self) -> bool:
        """Tell whether nothing refuses the pair."""
        return not self.count(ERROR) and not (self.options.strict and self.count(WARNING))

    def add(self, rule: Rule, said: Iterable[tuple[tuple[str, ...], Said]]) -> None:
        """Take in what a rule's check said, each of some files; the same of several files is one finding."""
        self.asked.add(rule.id)
        merged: dict[tuple[str, str], dict[str, None]] = {}
        for files, one in said:
            concerned = one.files or files
            merged.setdefault((one.text, one.way_out), {}).update(dict.fromkeys(concerned))
            for file in concerned:
                self.quoted.setdefault(file, set()).update(one.quotes)
        for (text, way_out), names in list(merged.items())[:MOST]:
            self._append(rule, tuple(names), text, way_out)
        if len(merged) > MOST:
            rest = dict.fromkeys(name for names in list(merged.values())[MOST:] for name in names)
            self._append(rule, tuple(rest), f"and {len(merged) - MOST} more findings of {rule.id}", "")

    def _append(self, rule: Rule, files: tuple[str, ...], text: str, way_out: str) -> None:
        name = label(files, len(self.workloads))
        self.findings.append(Finding(rule.severity, rule.id, files, name, text, way_out))


def judge(names: Sequence[str], read: Sequence[Read], options: Options) -> Verdict:
    """Return the verdict on files, client first: ``names`` as lines call them, what was ``read`` of each."""
    verdict = Verdict(names[0], tuple(names[1:]), options)
    _reading(verdict, names, read)
    documents = [one for one in read if isinstance(one, Document)]
    _twice(verdict, documents)
    client, workloads = _placed(verdict, read)
    if client is not None:
        moot = client_rules.moot(client)
        for rule in (one for one in client_rules.RULES if one.id not in moot):
            verdict.add(rule, (((client.file,), said) for said in _check(rule, client, options)))
    if workloads:
        for rule in workload_rules.RULES:
            found = [((one.file,), said) for one in workloads for said in _check(rule, one, options)]
            verdict.add(rule, found)
    several = _distinct(workloads)
    if client is not None and workloads:
        for rule in pair_rules.RULES:
            verdict.add(rule, (((), said) for said in _check(rule, client, several, options)))
        verdict.standings = [standing(client, one) for one in several]
        verdict.compared = [row for one in several for row in pair_rules.libraries(client, one)]
    if len(several) > 1:
        for rule in job_rules.RULES:
            verdict.add(rule, (((), said) for said in _check(rule, several, options)))
    _reasons(verdict, documents)
    verdict.findings.sort(key=lambda finding: finding.severity != ERROR)
    return verdict


def _check(rule: Rule, *asked: Any) -> Iterable[Said]:
    return rule.check(*asked) if rule.check is not None else ()


def _reading(verdict: Verdict, names: Sequence[str], read: Sequence[Read]) -> None:
    failed = [(name, one) for name, one in zip(names, read, strict=True) if isinstance(one, UnreadableError)]
    for rule, kind in (("file.readable", False), ("file.snapshot", True)):
        chosen = [(name, one) for name, one in failed if isinstance(one, ForeignError) is kind]
        verdict.add(RULES[rule], (((name,), Said(str(one), one.way_out)) for name, one in chosen))


def _twice(verdict: Verdict, documents: Sequence[Document]) -> None:
    said = []
    for number, one in enumerate(documents):
        for other in documents[:number]:
            if _is_same(one, other):
                are = "are the same file" if one.inode == other.inode and one.inode else "hold the same"
                which = f": {other.file} and {one.file} {are}" if one.file != other.file else ""
                said.append(((one.file,), Said(f"given twice{which}")))
                break
    verdict.add(RULES["file.twice"], said)


def _is_same(one: Document, other: Document) -> bool:
    return bool(one.inode and one.inode == other.inode) or bool(one.content and one.content == other.content)


def _distinct(workloads: Sequence[Document]) -> list[Document]:
    kept: list[Document] = []
    for one in workloads:
        if not any(_is_same(one, other) for other in kept):
            kept.append(one)
    return kept


def _is_workload(document: Document) -> bool:
    declared = document.at("execution_context", "probe_invocation")
    return (
        isinstance(declared, str)
        and declared in WORKLOADS
        and document.at("buck_invocation", "status") != "success"
    )


def _is_client(document: Document) -> bool:
    status, declared = (
        document.at("buck_invocation", "status"),
        document.at("execution_context", "probe_invocation"),
    )
    if status == "success" and document.version is not None and document.version >= (2, 0):
        # Declared to be a workload it would have asked nothing: somebody declared it afterwards.
        return True
    asked = isinstance(status, str) and status in ("success", "failure", "buck_not_detected")
    return asked and not (isinstance(declared, str) and declared in WORKLOADS)


def _placed(verdict: Verdict, read: Sequence[Read]) -> tuple[Document | None, list[Document]]:
    """Return the client and the workloads; one in the other's place has one error instead of all rules'."""
    first = read[0] if isinstance(read[0], Document) else None
    others = [one for one in read[1:] if isinstance(one, Document)]
    misplaced = [one for one in others if _is_client(one)]
    said = []
    if first is not None and _is_workload(first):
        declared = shown(first.at("execution_context", "probe_invocation"))
        text = f"a workload's snapshot (declared {declared}) in the client's place"
        if misplaced:
            text += f", and {misplaced[0].file} is a client's: swapped"
            # The first of them is told with it.
            misplaced_told = misplaced[1:]
        else:
            misplaced_told = []
        said.append(((first.file,), Said(text, CLIENT_FIRST)))
        first = None
    else:
        misplaced_told = misplaced
    for one in misplaced_told:
        status = shown(one.at("buck_invocation", "status"))
        text = f"a client's snapshot (buck_invocation.status is {status}) in a workload's place"
        said.append(((one.file,), Said(text, CLIENT_FIRST)))
    verdict.add(RULES["file.place"], said)
    return first, [one for one in others if one not in misplaced]


def _reasons(verdict: Verdict, documents: Sequence[Document]) -> None:
    """Repeat each reason but for those that a finding quotes; where those are all, the rule is not asked."""
    said, told = [], False
    for one in documents:
        lines, folded = reasons_of(one, tuple(verdict.quoted.get(one.file, ())))
        said += [((one.file,), Said(line)) for line in lines]
        told = told or folded
    if said or not told:
        verdict.add(RULES["file.reasons"], said)
