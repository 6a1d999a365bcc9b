"""Plugins that misbehave when they are imported, declared or asked for more, by the command."""

import pytest

from tests.parts.plugins import (
    DAEMON,
    HEAD,
    Machine,
    assert_the_others_say_the_same,
    collecting,
    own_lines,
    plugin_record,
)
from tests.parts.probing import side_by_side

CHANGED = "its import changed {}; it was put back"

#: What a module does when it is imported: the status of its record, and what that says.
IMPORTS = {
    "import_raises": ("raise ValueError('no')", "failed", "ValueError: no at {own}"),
    "import_raises_own": ("raise type('Own', (BaseException,), {})", "failed", "Own at {own}"),
    "import_no_python": ("def (", "failed", "SyntaxError"),
    "import_exits": ("sys.exit(7)", "failed", "SystemExit: 7 at {own}"),
    "import_sleeps": ("time.sleep(600)", "failed", "its import does not end, it was at {own}"),
    "import_c_with_lock": (
        "ctypes.PyDLL(None).sleep(600)",
        "failed",
        "its import does not end, it was at {own}",
    ),
    "import_command": (
        "subprocess.run(['sleep', '600'])",
        "failed",
        "its import does not end, it was at {own}",
    ),
    "import_stops": ("os.kill(os.getpid(), signal.SIGSTOP)", "failed", "its import does not end"),
    "import_leaves": ("os._exit(0)", "failed", "its import ends the process: it ended without an answer"),
    "import_aborts": (
        "os.abort()",
        "failed",
        "its import ends the process: it was ended by SIGABRT, it was at {own}",
    ),
    "import_crashes": (
        "ctypes.string_at(1)",
        "failed",
        "its import ends the process: it was ended by SIGSEGV",
    ),
    "import_thread": (
        "threading.Thread(target=time.sleep, args=(600,)).start()",
        "failed",
        "starts a thread",
    ),
    "import_process": ("subprocess.Popen(['sleep', '600'])", "failed", "starts a process"),
    "import_daemon": (DAEMON + "daemon()", "failed", "starts a process"),
    "import_prints": (
        (
            "print('noise'); print('noise', file=sys.stderr); os.write(1, b'noise'); c = ctypes.CDLL(None)\n"
            "c.puts(b'noise'); c.fflush(None)"
        ),
        "loaded",
        "",
    ),
    "import_environ": (
        "os.environ['ROCM_PATH'] = '/no'; os.environ.pop('LANG')",
        "loaded",
        CHANGED.format("the environment (LANG, ROCM_PATH)"),
    ),
    "import_folder": ("os.chdir('/')", "loaded", CHANGED.format("the working directory")),
    "import_path": ("sys.path.insert(0, '/no')", "loaded", CHANGED.format("sys.path")),
    "import_umask": ("os.umask(0o777)", "loaded", CHANGED.format("the umask")),
    "import_warnings": (
        "warnings.simplefilter('error')",
        "loaded",
        CHANGED.format("the filters of warnings"),
    ),
    "import_streams": ("sys.stdout = sys.stderr = None", "loaded", CHANGED.format("the standard streams")),
    "import_signals": (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGINT, signal.SIG_IGN)",
        "loaded",
        CHANGED.format("the handler of signal 2, the handler of signal 15"),
    ),
}

A_PROVIDER = """
@attrs.frozen
class {cls}:
    word: str

@provider(model={cls})
def provide(ctx):
    \"\"\"A value.\"\"\"
    return {cls}(word=ctx.env("HOME") or "")
"""

NEEDING = """
from typing import Annotated
import attrs
from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin import collector, provider
{imports}

@attrs.frozen(kw_only=True)
class Site:
    \"\"\"A section of a site.\"\"\"

    word: Annotated[str | None, Fact("A word.")] = None

{before}

@collector(section="site.{name}", model=Site, provenance=Provenance.PROCESS, needs=({needs},){more})
def collect(ctx: Context) -> Site:
    \"\"\"A section that needs something.\"\"\"
    return Site(word={word})
"""


def needing(name, needs, word="None", imports="", before="", more=""):
    return NEEDING.format(name=name, needs=needs, word=word, imports=imports, before=before, more=more)


#: What a module declares: the status of its record, and what that says.
DECLARATIONS = {
    "no_vendor": (
        collecting("x", "return None").replace('"site.x"', '"plain"'),
        "failed",
        "the section 'plain' of an outside plugin is named 'vendor.name'",
    ),
    "takes_host": (
        collecting("x", "return None").replace('"site.x"', '"host"'),
        "failed",
        "the section 'host' of an outside plugin is named 'vendor.name'",
    ),
    "first_of_two": (collecting("twice", "return 'first'"), "loaded", ""),
    "second_of_two": (
        collecting("twice", "return 'second'"),
        "failed",
        "the name 'site.twice' is taken by {folder}/first_of_two.py:",
    ),
    "takes_a_provider": (
        HEAD + A_PROVIDER.format(cls="RocmRoots"),
        "failed",
        "the name 'RocmRoots' is taken by ",
    ),
    "makes_the_same": (
        needing(
            "makes_the_same",
            "",
            imports="from aorta_collectors.providers import RocmRoots",
            before='@provider(model=RocmRoots)\ndef own(ctx):\n    """Roots."""\n',
        ).replace("needs=(,)", "needs=()"),
        "failed",
        "the name 'RocmRoots' is taken by ",
    ),
    "needs_itself": (needing("needs_itself", "Site"), "failed", "needs itself: site.needs_itself"),
    "needs_nothing": (
        needing("needs_nothing", "Nobody", before="@attrs.frozen\nclass Nobody:\n    pass\n"),
        "failed",
        "needs Nobody, which nothing makes",
    ),
    "gives": (HEAD + A_PROVIDER.format(cls="Given"), "loaded", ""),
    "needs_another": (
        needing("needs_another", "Given", "ctx.need(Given).word", "from gives import Given"),
        "loaded",
        "",
    ),
    "needs_ours": (
        needing(
            "needs_ours",
            "RocmRoots",
            "type(ctx.need(RocmRoots)).__name__",
            "from aorta_collectors.providers import RocmRoots",
        ),
        "loaded",
        "",
    ),
    "needs_a_section": (
        needing(
            "needs_a_section",
            "first.Site",
            "ctx.need(first.Site).word",
            "import needs_ours as first",
        ),
        "loaded",
        "",
    ),
    "gives_trouble": (
        HEAD + A_PROVIDER.format(cls="Trouble").replace("return Trouble", "os.abort(); return Trouble"),
        "loaded",
        "",
    ),
    "needs_trouble": (
        needing("needs_trouble", "Trouble", "ctx.need(Trouble).word", "from gives_trouble import Trouble"),
        "loaded",
        "",
    ),
    "made_for_later": (
        "AORTA_HOOKS = 2\n" + collecting("made_for_later", "return None"),
        "failed",
        "it is made for version 2 of the hooks, and this aorta has version 1 of the hooks: a newer aorta is needed",
    ),
    "made_for_now": ("AORTA_HOOKS = 1\n" + collecting("made_for_now", "return None"), "loaded", ""),
    "made_for_none": (
        "AORTA_HOOKS = '2.0'\n" + collecting("made_for_none", "return None"),
        "failed",
        "AORTA_HOOKS is '2.0', which is no version; this aorta has version 1 of the hooks",
    ),
    "later_collector": (
        needing("later_collector", "", more=", retries=3").replace("needs=(,)", "needs=()"),
        "failed",
        "{own}18: @collector does not know retries=; this aorta has version 1 of the hooks",
    ),
    "later_provider": (
        HEAD + A_PROVIDER.format(cls="Later").replace("model=Later", "model=Later, shared=True"),
        "failed",
        "@provider does not know shared=; this aorta has version 1 of the hooks",
    ),
    "later_fact": (
        collecting("later_fact", "return None").replace('Fact("A word.")', 'Fact("A word.", unit="s")'),
        "failed",
        "unexpected keyword argument 'unit' at {own}",
    ),
    "later_hook": (
        "from aorta.plugin import retention\n",
        "failed",
        "cannot import name 'retention' from 'aorta.plugin'",
    ),
}

#: What a hook does, and what the capture says of it; {hook} is its name.
HOOKS = {
    "hook_raises": ("raise ValueError('no')", "ValueError at {own}"),
    "hook_exits": ("sys.exit(3)", "SystemExit at {own}"),
    "hook_leaves": ("os._exit(0)", "its process gave no value: it ended without an answer"),
    "hook_aborts": ("os.abort()", "was ended by SIGABRT at {own}"),
    "hook_sleeps": ("time.sleep(600)", "was at {own}"),
    "hook_c_with_lock": ("ctypes.PyDLL(None).sleep(600)", "was at {own}"),
    "hook_expression": ("re.match('(a*)*b', 'a' * 60)", "was at {own}"),
    "hook_number": ("return float('nan')", "TypeError: float is no "),
    "hook_object": ("return threading.Lock()", "cannot leave its process"),
    "hook_much": ("return ['X' * 100] * 2_000_000", ""),
    "hook_daemon": ("daemon(); return 3", "TypeError: int is no "),
}

#: Hooks that do something beside and are heard.
FINE_HOOKS = {
    "hook_prints": "print('noise'); os.write(1, b'noise')",
    "hook_changes": "os.environ.clear(); os.chdir('/'); os.umask(0o777)",
}

DEADLINE_S = 30


def hooking(name, body):
    fine = "{'NAME': 'x'}", "['TEST_SITE_NAME', 'TEST_SITE_*']"
    return (
        HEAD
        + DAEMON
        + "".join(
            f"@{hook}\ndef {hook}_of_site():\n"
            + "".join(f"    {line}\n" for line in body.split("\n"))
            + f"    return {value.replace('NAME', name) if hook == 'buck_libraries' else value}\n"
            for hook, value in zip(("buck_libraries", "env_names"), fine, strict=True)
        )
    )


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    machine = Machine(tmp_path_factory.mktemp("plugins"))
    for name, (text, _, _) in IMPORTS.items():
        machine.write(name, HEAD + text + "\n" + collecting(name, "return 1"))
    for name, (text, _, _) in DECLARATIONS.items():
        machine.write(name, text)
    for name, (body, _) in HOOKS.items():
        machine.write(name, hooking(name, body))
    for name, body in FINE_HOOKS.items():
        machine.write(name, hooking(name, body))
    yield machine
    machine.end_daemons()


@pytest.fixture(scope="module")
def probes(machine):
    target = ("--buck-target", "//site:job")
    runs = {
        "none": lambda: machine.probe("none", [], deadline_s=DEADLINE_S),
        "none_of_buck": lambda: machine.probe("none_of_buck", [], *target, deadline_s=DEADLINE_S),
        "imports": lambda: machine.probe("imports", list(IMPORTS), deadline_s=DEADLINE_S),
        "declarations": lambda: machine.probe("declarations", list(DECLARATIONS), deadline_s=DEADLINE_S),
    }
    found = side_by_side(runs)
    hooks = [*HOOKS, *FINE_HOOKS]
    found["hooks"] = machine.probe(
        "hooks", hooks, *target, deadline_s=DEADLINE_S, TEST_SITE_NAME="a", TEST_SITE_OTHER="b"
    )
    return found


@pytest.mark.parametrize("group", ["imports", "declarations"])
def test_all_others_say_the_same(probes, group):
    assert_the_others_say_the_same(probes[group], probes["none"], DEADLINE_S)


@pytest.mark.parametrize("name", IMPORTS)
def test_an_import_that_does_what_none_may(machine, probes, name):
    _, status, text = IMPORTS[name]
    record = plugin_record(probes["imports"], name)
    assert record["status"] == status
    assert text.format(own=own_lines(machine.folder, name)) in record["detail"]
    if status == "loaded":
        assert record["detail"] == text
        made = probes["imports"].document
        assert made["collection"]["collectors"][f"site.{name}"]["status"] == "ok"
        assert made["extensions"][f"site.{name}"]["data"] == 1


@pytest.mark.parametrize("name", DECLARATIONS)
def test_what_is_declared(machine, probes, name):
    _, status, text = DECLARATIONS[name]
    record = plugin_record(probes["declarations"], name)
    assert record["status"] == status, record
    own = own_lines(machine.folder, name)
    assert text.format(own=own, folder=machine.folder) in record["detail"]


@pytest.mark.parametrize("group", ["imports", "declarations"])
def test_each_that_is_left_out_is_told_everywhere(probes, group):
    done = probes[group]
    told = [one["detail"] for one in done.reasons(section="collection")]
    failed = [one for one in done.document["collection"]["plugins"] if one["status"] == "failed"]
    assert failed
    for record in failed:
        text = f"the plugin {record['name']} is left out: {record['detail']}"
        assert text in told
        assert f"aorta: {text}" in done.stderr.splitlines()


def test_what_is_needed_comes_from_other_processes(machine, probes):
    made = probes["declarations"].document
    data = {name: part["data"] for name, part in made["extensions"].items()}
    assert data["site.twice"] == "first"
    assert data["site.needs_another"] == {"word": machine.env["HOME"]}
    assert data["site.needs_ours"] == {"word": "RocmRoots"}
    assert data["site.needs_a_section"] == {"word": "RocmRoots"}
    assert made["collection"]["providers"]["Given"]["status"] == "ok"
    assert data["site.needs_trouble"] == {"word": None}
    assert made["collection"]["collectors"]["site.needs_trouble"]["status"] == "blocked"
    (reason,) = probes["declarations"].reasons(section="Trouble")
    assert f"was ended by SIGABRT at {own_lines(machine.folder, 'gives_trouble')}" in reason["detail"]


def test_hooks_cost_no_section(probes):
    done, whole = probes["hooks"], probes["none_of_buck"]
    # The fine ones show two variables more.
    for name in ("TEST_SITE_NAME", "TEST_SITE_OTHER"):
        assert done.document["env_vars"].pop(name)
    assert_the_others_say_the_same(done, whole, DEADLINE_S)


@pytest.mark.parametrize("hook", ["aorta_buck_libraries", "aorta_env_names"])
@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_that_misbehaves_is_told(machine, probes, name, hook):
    _, text = HOOKS[name]
    said = [one["detail"] for one in probes["hooks"].reasons(section="collection")]
    (line,) = [one for one in said if one.startswith(f"what the plugin {name} adds by {hook} is left out: ")]
    assert text.format(own=own_lines(machine.folder, name)) in line


@pytest.mark.parametrize("name", FINE_HOOKS)
def test_a_hook_that_does_more_is_heard(probes, name):
    said = [one["detail"] for one in probes["hooks"].reasons(section="collection")]
    assert not [line for line in said if f"the plugin {name} " in line]


@pytest.mark.parametrize("group", ["imports", "declarations", "hooks"])
def test_no_process_is_left(machine, probes, group):
    assert probes[group].code == 0
    assert machine.left_by(group) == {}
