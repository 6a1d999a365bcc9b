"""``workload_config``: what is taken, what is refused and how that is said, and what a list shows."""

from typing import Any, Literal

import attrs
import pytest

from aorta.model.frozen import frozen
from aorta.workloads.config import ConfigError, config_schema, described, make_config, rebuilt
from aorta.workloads.discovery import BUILTIN, find
from aorta.workloads.protocol import Workload
from aorta.workloads.race.config import check_inject


@attrs.frozen(kw_only=True)
class Fan:
    speed: int
    name: str | None = None


@attrs.define
class Heat:
    kind: Literal["gas", "oil"] = "gas"
    degrees: float = described(20.0, "how hot")
    steps: int = 3
    fans: list[Fan] = attrs.Factory(list)
    fan: Fan | None = None
    by_room: dict[str, Fan] = attrs.Factory(dict)
    extra: Any = None

    def __attrs_post_init__(self):
        if self.degrees > 100:
            raise ValueError("degrees: no more than 100")


class Warm(Workload):
    config_type = Heat


class Free(Workload):
    pass


def problems(mapping, cls=Warm, steps=5):
    with pytest.raises(ConfigError) as caught:
        make_config(cls, mapping, steps)
    return list(caught.value.problems)


def test_typed_values():
    made = make_config(
        Warm, {"kind": "oil", "degrees": 30, "fans": [{"speed": 2}], "by_room": {"a": {"speed": 1}}}, 5
    )
    assert (made.kind, made.degrees, made.steps, made.fans[0]) == ("oil", 30.0, 5, Fan(speed=2))
    assert made.by_room["a"].speed == 1


def test_steps_that_the_config_names_win():
    assert make_config(Warm, {"steps": 9}, 5).steps == 9


def test_without_a_type_it_is_a_dict():
    assert make_config(Free, {"a": 1}, 5) == {"a": 1, "steps": 5}


def test_the_classes_of_aorta_serve_too():
    @frozen
    class Cool:
        degrees: int = 3

    class Cold(Workload):
        config_type = Cool

    assert make_config(Cold, {"degrees": 4}, 5).degrees == 4
    assert problems({"degree": 4}, Cold) == ["workload_config: no key 'degree': did you mean degrees?"]


@pytest.mark.parametrize(
    ("mapping", "told"),
    [
        ({"degres": 3}, "workload_config: no key 'degres': did you mean degrees?"),
        (
            {"zzz": 3},
            "workload_config: no key 'zzz'; there are kind, degrees, steps, fans, fan, by_room, extra",
        ),
        ({"kind": "wood"}, "workload_config.kind: 'wood' is none of gas, oil"),
        ({"degrees": "hot"}, "workload_config.degrees: expected a number, got a text"),
        (
            {"degrees": "1e3"},
            "workload_config.degrees: expected a number, got a text, which YAML makes of 1e3: write 1.0e+3",
        ),
        ({"degrees": True}, "workload_config.degrees: expected a number, got a boolean"),
        ({"steps": 1.5}, "workload_config.steps: expected an integer, got a number"),
        ({"fan": {}}, "workload_config.fan.speed: is missing"),
        ({"fan": {"speed": 1, "sped": 2}}, "workload_config.fan: no key 'sped': did you mean speed?"),
        (
            {"fans": [{"speed": 1}, {"speed": 1, "nam": 2}]},
            "workload_config.fans[1]: no key 'nam': did you mean name?",
        ),
        (
            {"by_room": {"a": {"speed": 1, "sped": 2}}},
            "workload_config.by_room.a: no key 'sped': did you mean speed?",
        ),
        ({"fans": {"speed": 1}}, "workload_config.fans: expected a list, got an object"),
        ({"degrees": 101}, "workload_config: degrees: no more than 100"),
    ],
)
def test_what_is_refused(mapping, told):
    assert problems(mapping) == [told]


def test_all_is_told_at_once():
    assert len(problems({"a": 1, "kind": 3, "degrees": None})) == 3


def test_the_schema():
    keys = {key.key: key for key in config_schema(Warm)}
    assert tuple(keys["degrees"]) == ("degrees", "float", 20.0, "how hot", False)
    assert keys["kind"].type == "gas or oil"
    assert keys["fans"].type == "list of {speed: int, name: str or null}"
    assert (keys["fans"].default, keys["fan"].default) == ([], None)
    assert config_schema(Free) == []


@pytest.mark.parametrize(
    ("inject", "told"),
    [
        ({"rank": 5}, "inject.rank is 5, with 2 ranks: at most 1"),
        ({"rank": 1, "layer": 4}, "inject.layer is 4, with 4 layers in mode ddp: at most 3"),
        ({"rank": 1, "iteration": 20}, "inject.iteration is 20, with 20 verified iterations: at most 19"),
    ],
)
def test_a_corruption_that_race_would_plant_nowhere(inject, told):
    config = make_config(find("race"), {"mode": "ddp", "inject": inject}, 20)
    with pytest.raises(ValueError, match=f"^{told}$"):
        check_inject(config, ranks=2, iterations=20)
    last = make_config(find("race"), {"mode": "ddp", "inject": {"rank": 1, "layer": 3, "iteration": 19}}, 20)
    check_inject(last, ranks=2, iterations=20)
    check_inject(make_config(find("race"), {}, 20), ranks=2, iterations=20)


@pytest.mark.parametrize("name", [name for name, _ in BUILTIN])
def test_the_defaults_of_built_in_ones_are_taken(name):
    made = make_config(find(name), {}, 5)
    assert getattr(made, "steps", 5) == 5
    assert all(key.doc for key in config_schema(find(name)))


@pytest.mark.parametrize(
    ("name", "mapping", "told"),
    [
        ("race", {"mode": "fsdp", "same_stream_mode": True}, "mode fsdp has streams and buffers of its own"),
        ("race", {"optimizer": "sgd"}, "optimizer sgd is for mode ddp"),
        (
            "race",
            {"mode": "ddp", "optimizer": "shampoo"},
            "workload_config.optimizer: 'shampoo' is none of none, adamw, sgd",
        ),
        ("race", {"optimizer_betas": [0.9, 1.0]}, "optimizer_betas are [0.9, 1.0], not from 0 to below 1"),
        (
            "race",
            {"real_backward": True},
            "real_backward is true, but the backward pass of compute_type gemm is products of matrices: leave",
        ),
        ("race", {"shared_layer_weights": True}, "is for compute_type transformer: gemm has no weights"),
        ("ranks", {"store": "redis"}, "workload_config.store: 'redis' is none of tcp, agent"),
        ("race", {"num_layers": 0}, "num_layers is 0, below 1"),
        ("race", {"warmup_iterations": -1}, "warmup_iterations is -1, below 0"),
        ("race", {"inject": {"rank": -1}}, "count from 0"),
        ("training", {"model": {"hidden_size": 30}}, "hidden_size 30 is no multiple of num_heads 4"),
        ("training", {"model": {"hiden_size": 30}}, "did you mean hidden_size?"),
        ("training", {"batch_size": 0}, "sizes are at least 1"),
        ("ranks", {"payload_bytes": 0}, "payload_bytes is at least 1"),
        ("command", {"argv": ["x"]}, "no key 'argv'; this workload has none"),
    ],
)
def test_what_built_in_ones_refuse(name, mapping, told):
    (problem,) = problems(mapping, find(name))
    assert told in problem


@pytest.mark.parametrize(
    "mapping",
    [
        {},
        {"kind": "oil", "degrees": 30, "steps": 9},
        {
            "fans": [{"speed": 2}, {"speed": 3, "name": "b"}],
            "fan": {"speed": 1},
            "by_room": {"a": {"speed": 1}},
        },
        {"fan": None, "extra": [1, {"a": None}]},
    ],
)
def test_a_worker_makes_the_same_of_it(mapping):
    made = make_config(Warm, mapping, 5)
    again = rebuilt(Warm, mapping, 5)
    assert again == made
    assert type(again.degrees) is float
    assert rebuilt(Free, {"a": 1}, 5) == make_config(Free, {"a": 1}, 5)
