"""``CommandRunner``: executes trials of one command and says what became of each."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence

from aorta.model.frozen import evolve, frozen
from aorta.sweep.command.absent_script import absent_script
from aorta.sweep.command.catalogue import Enabled, fired
from aorta.sweep.command.exits import End, finding_of, refusal
from aorta.sweep.command.hang import HangWatch
from aorta.sweep.command.logs import read_logs, replaced, to_read
from aorta.sweep.command.processes import Tree
from aorta.sweep.command.running import CannotStartError, run
from aorta.sweep.command.start import opened
from aorta.sweep.command.surroundings import Surroundings, VramWatch
from aorta.sweep.command.verdict import judge
from aorta.sweep.command.waiting import HUNG, TIMED_OUT, Watch, Watches
from aorta.sweep.files import TrialFiles
from aorta.sweep.outcome import ERROR, Finding, Outcome
from aorta.sweep.recipe.model import FILE, TRIAGE, Recipe
from aorta.sweep.variables import ENV_FILE


@frozen
class _Seen:
    """What was found out about a trial while it ran and just after."""

    end: End
    peak_mib: float | None
    around: tuple[Finding, ...]
    notes: tuple[str, ...]


class CommandRunner:
    """Runs one command again and again. Nothing else may start processes while a trial runs.

    Raises ValueError for a command without words.
    """

    def __init__(self, recipe: Recipe, argv: Sequence[str]) -> None:
        if not argv:
            raise ValueError("there is no command")
        self._recipe = recipe
        self._argv = tuple(argv)
        self._enabled = Enabled(recipe.disable_detectors, recipe.disable_detector_tiers)
        self._surroundings: Surroundings | None = None
        self._hang: HangWatch | None = None
        self._vram: VramWatch | None = None

    def execute(
        self,
        files: TrialFiles,
        environ: Mapping[str, str],
        *,
        overlay: Mapping[str, str | None] | None = None,
        steps: int | None = None,
    ) -> Outcome:
        """Execute one trial with exactly these variables, and judge it.

        ``overlay`` is what the file of variables holds, where the recipe asks for one. ``steps`` is how
        many the trial is to make, if not the recipe's. What cannot be started, or has no place for its
        logs, is an error of the trial. Raises what signals raise, after the trial was ended.
        """
        environ = dict(environ)
        try:
            self._write_env_file(files, environ, overlay or {})
        except ValueError as error:
            return _not_started(fired("meta:env_file_validation_failed", str(error)))
        except OSError as error:
            return _not_started(None, f"the file of variables cannot be written: {error}")
        with _folder(files):
            outcome = self._outcome(files, environ, self._recipe.steps if steps is None else steps)
            return evolve(outcome, notes=(*outcome.notes, *self._keep(files, environ, outcome.verdict)))

    def _write_env_file(
        self, files: TrialFiles, environ: dict[str, str], overlay: Mapping[str, str | None]
    ) -> None:
        if self._recipe.env_passthrough_mode == FILE:
            from aorta.sweep.command.env_file import write_env_file

            write_env_file(files.environ, overlay)
            environ[ENV_FILE] = files.environ

    def _outcome(self, files: TrialFiles, environ: Mapping[str, str], steps: int) -> Outcome:
        with contextlib.ExitStack() as stack:
            try:
                written = stack.enter_context(opened(files.stdout, files.stderr))
                logs = stack.enter_context(to_read(files))
            except OSError as error:
                return _not_started(None, f"a log cannot be written: {error}")
            try:
                seen = self._run(files, environ, (written[0], written[1]))
            except CannotStartError as error:
                code, finding = refusal(error.error, self._argv[0])
                return _not_started(finding, code=code)
            outcome = self._judged(logs, seen, steps)
            return evolve(outcome, notes=(*outcome.notes, *replaced(logs, files)))

    def _run(self, files: TrialFiles, environ: Mapping[str, str], logs: tuple[int, int]) -> _Seen:
        recipe = self._recipe
        notes: tuple[str, ...] = ()
        if self._surroundings is None:
            self._surroundings = Surroundings(self._enabled, growth=recipe.tier3_vram_growth)
            notes = self._surroundings.notes
        around = self._surroundings
        around.begin()
        ran = run(
            self._argv,
            environ,
            logs,
            timeout_s=recipe.timeout_s,
            watch=lambda tree: self._watch(tree, logs),
        )
        end = End(
            how=ran.how,
            status=ran.status,
            elapsed_s=ran.elapsed_s,
            timeout_s=recipe.timeout_s,
            idle_s=None if self._hang is None else self._hang.idle_s,
            oom_kills=around.oom_kills(),
        )
        found = around.findings(end, (".", files.folder))
        hang, hang_notes = self._hang_of(end)
        return _Seen(
            end=end,
            peak_mib=None if self._vram is None else self._vram.peak_mib,
            around=(*hang, *found),
            notes=(*notes, *ran.notes, *hang_notes),
        )

    def _watch(self, tree: Tree, logs: tuple[int, int]) -> Watch | None:
        recipe = self._recipe
        watches: list[Watch] = []
        self._hang = self._vram = None
        if self._enabled("tier2:hang"):
            self._hang = HangWatch(
                tree,
                logs,
                window_s=recipe.hang_window_sec,
                grace_s=recipe.hang_grace_period_at_start,
                ends=recipe.end_on_hang,
            )
            watches.append(self._hang)
        if self._surroundings is not None and self._surroundings.vram:
            self._vram = VramWatch(self._surroundings)
            watches.append(self._vram)
        return Watches(*watches) if watches else None

    @staticmethod
    def _hang_of(end: End) -> tuple[list[Finding], list[str]]:
        """Return a hang as a finding when it lasted to an end from outside, else as a note."""
        if end.idle_s is None:
            return [], []
        text = f"no output, no input and no processor time for {end.idle_s:.0f} s"
        if end.how in {HUNG, TIMED_OUT} or end.signal is not None:
            return [fired("tier2:hang", text)], []
        return [], [f"{text}, which looked like a hang until the command ended by itself"]

    def _judged(self, logs: tuple[int, int], seen: _Seen, steps: int) -> Outcome:
        from aorta.sweep.command.custom import custom_scans
        from aorta.sweep.command.steps import StepScan, steps_of

        recipe, end = self._recipe, seen.end
        code = end.status.code
        custom = custom_scans(
            recipe.custom_patterns,
            self._enabled,
            exit_code=code if end.status.number is None else -end.status.number,
            walltime_s=end.elapsed_s,
            peak_vram_mib=seen.peak_mib,
        )
        scan = None if recipe.step_time_regex is None else StepScan(recipe.step_time_regex)
        found, notes = read_logs(logs, self._enabled, custom, scan)
        if scan is not None and scan.gave_up:
            notes.append("step_time_regex took too long and was given up")
        told = steps_of(scan, steps=steps, elapsed_s=end.elapsed_s, clean=end.clean)
        exit_ = finding_of(end)
        if exit_ is not None and self._enabled("tier1:exec_failed"):
            exit_ = absent_script(end, logs[1]) or exit_
        findings = [exit_] if exit_ is not None and self._enabled(exit_.id) else []
        findings += [*seen.around, *found]
        findings += [one for each in custom if (one := each.finding()) is not None]
        confirmed = any(each.confirmed for each in custom)
        verdict, reason = judge(findings, end, told.seen, self._enabled, confirmed=confirmed)
        return Outcome(
            verdict=verdict,
            reason=reason,
            traceback=next((one.traceback for one in findings if one.traceback), None),
            exit_code=code,
            signal=end.signal,
            timed_out=end.how == TIMED_OUT,
            elapsed_s=end.elapsed_s,
            step_times_ms=told.times_ms,
            step_time_source=told.source,
            iterations=told.seen,
            configured_iterations=steps if recipe.mode == TRIAGE else None,
            findings=tuple(findings),
            notes=(*seen.notes, *notes),
        )

    def _keep(self, files: TrialFiles, environ: Mapping[str, str], verdict: str) -> list[str]:
        recipe = self._recipe
        notes: list[str] = []
        if recipe.collect_paths or {recipe.retain.on_pass, recipe.retain.on_fail, recipe.retain.on_error} != {
            "full"
        }:
            from aorta.sweep.command.keep import collect, retain

            notes += collect(recipe.collect_paths, files, environ)
            notes += retain(files, recipe.retain, verdict)
        return notes


def _not_started(finding: Finding | None, reason: str | None = None, code: int | None = None) -> Outcome:
    return Outcome(
        verdict=ERROR,
        reason=finding.text if finding is not None else reason,
        exit_code=code,
        findings=() if finding is None else (finding,),
    )


@contextlib.contextmanager
def _folder(files: TrialFiles) -> Iterator[None]:
    """Make the folder of a trial's own files, and take it away when nothing was put in."""
    with contextlib.suppress(OSError):
        os.makedirs(files.folder, exist_ok=True)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.rmdir(files.folder)
