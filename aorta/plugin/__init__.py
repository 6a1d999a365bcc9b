"""Declaring collectors and providers, finding them, and the registry that checks them."""

from aorta.plugin.declare import (
    HOOKS,
    CollectorSpec,
    ProviderSpec,
    RegistrationError,
    buck_libraries,
    collector,
    env_names,
    provider,
)

__all__ = [
    "HOOKS",
    "CollectorSpec",
    "ProviderSpec",
    "RegistrationError",
    "buck_libraries",
    "collector",
    "env_names",
    "provider",
]
