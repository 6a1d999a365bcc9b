import pytest

from aorta.collect import CommandAnswer, Completed
from aorta.model.vocabulary import Outcome, ReasonKind
from aorta_collectors.gpu.rocminfo import explain, parse_agents, parse_kfd_refusal
from tests.parts.gpu_hosts import agent, rocminfo

RED, PLAIN = "\x1b[31m", "\x1b[0m"


def test_gpu_agents_only_with_padded_columns_and_colours():
    agents = parse_agents(rocminfo(agent(2), agent(3, **{"Marketing Name": ""})))
    assert [each.node for each in agents] == [2, 3]
    assert agents[0].name == "gfx942"
    assert (agents[0].bdfid, agents[0].chip_id, agents[0].compute_units) == (6912, 29857, 304)
    assert agents[0].marketing_name == "AMD Instinct MI300X"
    assert agents[1].marketing_name is None
    assert agents[0].target.text == "gfx942:sramecc+:xnack-"


def test_the_isa_name_is_not_the_agents_name():
    assert parse_agents(rocminfo(agent(1, isa="gfx90a")))[0].name == "gfx942"


def test_wsl_prints_a_banner_and_fewer_lines():
    text = rocminfo(
        agent(1, "gfx1100", BDFID=None, Uuid=None, isa="gfx1100"), first="WSL environment detected."
    )
    (only,) = parse_agents("pid:1 tid:0x7 [topology] No WDDM adapters found.\n" + text.replace("\n", "\r\n"))
    assert (only.name, only.bdfid, only.uuid) == ("gfx1100", None, None)


@pytest.mark.parametrize(
    "text", ["", "ROCk module is NOT loaded\n", "Agent 1\n  Device Type:  GPU\n  Name:  strange\n"]
)
def test_no_agents(text):
    assert parse_agents(text) == ()


def test_text_that_ends_in_the_middle():
    assert len(parse_agents(rocminfo(agent(1))[:1500])) <= 1
    huge = "Agent 2\n  Name:  gfx942\n  Device Type:  GPU\n  Node: " + "9" * 5000 + "\n"
    assert parse_agents(huge)[0].node is None


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Permission denied", "EACCES"),
        ("Operation not permitted", "EPERM"),
        ("Invalid argument", "EINVAL"),
        ("Cannot allocate memory", "ENOMEM"),
        ("No such file or directory", "ENOENT"),
        ("Something new", None),
    ],
)
def test_refusals(words, name):
    text = f"\x1b[37mROCk module is loaded{PLAIN}\n{RED}Unable to open /dev/kfd read-write: {words}{PLAIN}\n"
    assert parse_kfd_refusal(text) == (name, words)


def test_no_refusal():
    assert parse_kfd_refusal("ROCk module is loaded\n") is None


def test_the_reason_holds_no_colour_codes():
    done = Completed(outcome=Outcome.EXIT, exit_code=1, stdout=f"{RED}ROCk module is NOT loaded{PLAIN}\n")
    answer = CommandAnswer(
        value=done, kind=ReasonKind.FAILED, subject="rocminfo", detail=f"{RED}NOT loaded{PLAIN}"
    )
    assert explain(answer) == (ReasonKind.FAILED, "NOT loaded")
