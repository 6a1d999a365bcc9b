"""The databases that MIOpen would look at: what is on the menu, not which solver a run picks."""

import posixpath
from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.miopen import LIBRARY
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.tree.catalog import CatalogStatus, Menu, names, revision, take_menu
from aorta_collectors.tree.kernel_library import effective, find_library, note_header, read_header
from aorta_collectors.tree.links import absolute

DOC = (
    "MIOpen's system databases as it would look at them in this environment, by name and content: find"
    " databases, performance databases, compiled kernels and heuristic models. They are the menu: which"
    " solver a run picks is decided at run time, also by the user's own database, whose content changes with"
    " every run and is never opened here."
)
USER_VARIABLE = "MIOPEN_USER_DB_PATH"
USER_PLACE = ".config/miopen"


@frozen
class MIOpenCatalog:
    """MIOpen's system databases."""

    doc: Annotated[str | None, Fact("What this catalog is, and is not.")] = None
    status: Annotated[CatalogStatus | None, Fact("That of the menu.")] = None
    package_version: Annotated[str | None, Fact("Version of MIOpen's header.")] = None
    lib_hash: Annotated[str | None, Fact("sha256 of the library file.", caveat="Installed, not loaded.")] = (
        None
    )
    kernel_db_revision: Annotated[
        str | None, Fact("filenames-sha256 over the text databases of the directory that this catalog is of.")
    ] = None
    db_dir: Annotated[str | None, Fact("The directory, also one that is named and not there.")] = None
    db_dir_source: Annotated[
        str | None,
        Fact(
            "MIOPEN_SYSTEM_DB_PATH, or default: the directory installed with the library.",
            provenance=(Provenance.PROCESS, Provenance.FILESYSTEM),
        ),
    ] = None
    env_overrides: Annotated[
        dict[str, str | None] | None,
        Fact(
            "The two variables as set; MIOpen takes an empty one for none.",
            keys=(LIBRARY.variable, USER_VARIABLE),
            provenance=(Provenance.PROCESS,),
        ),
    ] = None
    user_db_dir: Annotated[
        str | None,
        Fact(
            "Where this user's own database is or would be: MIOPEN_USER_DB_PATH made absolute, or"
            " ~/.config/miopen.",
            caveat="Its content is not looked at.",
            provenance=(Provenance.PROCESS, Provenance.FILESYSTEM),
        ),
    ] = None
    user_db_file_count: Annotated[
        int | None, Fact("Files in it; null where there is none or it cannot be read.", volatile=True)
    ] = None
    menu: Annotated[Menu, Fact("The files.")] = Menu()


@collector(
    section="miopen_catalog",
    model=MIOpenCatalog,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(RocmRoots,),
    timeout_s=90,
)
def collect(ctx: Context) -> MIOpenCatalog:
    """MIOpen's system databases, hashed."""
    roots = ctx.need(RocmRoots)
    header = read_header(ctx, roots, LIBRARY)
    note_header(ctx, header, LIBRARY.prefix, version="package_version")
    found, _ = find_library(ctx, roots, LIBRARY)
    place = effective(ctx, roots, LIBRARY)
    listed = place.trouble or names(ctx, place.path or "/", LIBRARY.family)
    menu = take_menu(ctx, place, LIBRARY.family, "menu")
    user_dir, user_files = _user_db(ctx, roots)
    return MIOpenCatalog(
        doc=DOC,
        status=menu.status,
        package_version=header.version,
        lib_hash=ctx.take(ctx.digest(found.value) if found.value else found, "lib_hash"),
        kernel_db_revision=ctx.take(revision(listed), "kernel_db_revision"),
        db_dir=place.path,
        db_dir_source=place.source,
        env_overrides={name: ctx.env(name) for name in (LIBRARY.variable, USER_VARIABLE)},
        user_db_dir=user_dir,
        user_db_file_count=user_files,
        menu=menu,
    )


def _user_db(ctx: Context, roots: RocmRoots) -> tuple[str | None, int | None]:
    """Return the user's own database directory and how many files are in it; no file is opened."""
    value, home = ctx.env(USER_VARIABLE), ctx.env("HOME")
    if not value and (not roots.found or not home):
        text = "HOME is not set" if roots.found else "there is no MIOpen that would use one"
        for field in ("user_db_dir", "user_db_file_count"):
            ctx.note(ReasonKind.ABSENT, field, text)
        return None, None
    if value and home and (value == "~" or value.startswith("~/")):
        value = home + value[1:]
    place = absolute(ctx, value or posixpath.join(home or "/", USER_PLACE))
    path = ctx.take(place, "user_db_dir")
    if path is None:
        ctx.take(place, "user_db_file_count")
        return None, None
    listed = ctx.take(ctx.scan(path), "user_db_file_count")
    return path, None if listed is None else sum(entry.kind != "dir" for entry in listed)
