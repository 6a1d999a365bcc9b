"""Sessions for maintainers; `make test` runs what a change needs."""

import nox

nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "types", "tests"]

FLOORS = (
    "attrs==23.1.0",
    "cattrs==23.2.3",
    "click==8.1.0",
    "packaging==22.0",
    "pluggy==1.0.0",
    "pyelftools==0.29",
    "PyYAML==6.0.1",
    "rich==12.6.0",
)


@nox.session(python=["3.10", "3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    session.install("-e", ".[test]")
    session.run("pytest", *session.posargs)


@nox.session(python="3.10")
def floors(session: nox.Session) -> None:
    """The oldest versions that are promised still work."""
    session.install("-e", ".", "pytest", "pytest-timeout", "hypothesis", "jsonschema", "msgspec", *FLOORS)
    folders = (
        "tests/model",
        "tests/plugin",
        "tests/collect",
        "tests/cli",
        "tests/package/test_standalone.py",
    )
    session.run("pytest", *folders, *session.posargs)


@nox.session
def types(session: nox.Session) -> None:
    session.install("-e", ".[test]")
    session.run("mypy")


@nox.session
def lint(session: nox.Session) -> None:
    session.install("-e", ".[test]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports")


@nox.session
def docs(session: nox.Session) -> None:
    session.install("-e", ".[test]")
    session.run("python", "scripts/make_docs.py")
    session.run("python", "scripts/make_schema.py")
    session.run("pytest", "tests/docs", *session.posargs)


@nox.session
def package(session: nox.Session) -> None:
    session.install("-e", ".[test]")
    session.run("pytest", "tests/package", *session.posargs)
