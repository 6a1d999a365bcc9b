"""Stores of texts for ``ranks`` that no rank serves: a dict for one rank, and that of torchrun's agent."""

from typing import Any

from aorta.model.frozen import frozen
from aorta.workloads.protocol import AgentStore
from aorta.workloads.tcp_store import StoreError


@frozen
class Alone:
    """Stands for the store where there is one rank."""

    values: dict[str, str]

    def set(self, key: str, value: str) -> None:
        """Put a value under a key."""
        self.values[key] = value

    def get(self, key: str, *, last: bool = False) -> str:
        """Return the value of a key; ``last`` takes it out."""
        return self.values.pop(key) if last else self.values[key]

    def close(self) -> None:
        """Do nothing."""


class InAgent:
    """The store of torchrun's agent, through torch. Raises ValueError where there is none, and StoreError."""

    def __init__(self, agent: AgentStore | None, timeout_s: float) -> None:
        if agent is None:
            raise ValueError(
                "store agent: no agent serves a store here; start the ranks by torchrun (its rendezvous"
                " c10d, as --standalone has), or set store: tcp"
            )
        self._where = f"the store of torchrun's agent at {agent.host}:{agent.port}"
        self._timeout_s = timeout_s
        try:
            from aorta.workloads.group import agent_store

            self._store: Any = agent_store(agent, timeout_s)
        except ImportError as error:
            raise ValueError(f"store agent needs torch ({error}): install it, or set store: tcp") from None
        except Exception as error:
            raise StoreError(f"{self._where} is lost: {error}") from None

    def set(self, key: str, value: str) -> None:
        """Put a value under a key."""
        try:
            self._store.set(key, value)
        except Exception as error:
            raise StoreError(f"{self._where} is lost: {error}") from None

    def get(self, key: str, *, last: bool = False) -> str:
        """Return the value of a key, which is waited for; ``last`` takes it out of the store."""
        import torch.distributed as dist

        try:
            value = self._store.get(key).decode()
            if last:
                self._store.delete_key(key)
        except dist.DistStoreError:
            raise StoreError(f"{key} did not come to {self._where} within {self._timeout_s:g} s") from None
        except Exception as error:
            raise StoreError(f"{self._where} is lost: {error}") from None
        return str(value)

    def close(self) -> None:
        """Do nothing: the agent's store goes on."""
