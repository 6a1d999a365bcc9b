"""The environments that aorta brings."""

#: Name, the fields that are not null, and what it is.
BUILTIN: tuple[tuple[str, dict[str, str], str], ...] = (
    ("local", {}, "where aorta itself runs"),
    ("default", {}, "the usual environment of a site: the same as local"),
    (
        "emulated-rocjitsu",
        {"emulator": "rocjitsu", "mirage_profile": "mi350x"},
        "a GPU emulated by rocjitsu",
    ),
    (
        "emulated-rocjitsu-dbt",
        {"emulator": "rocjitsu-dbt", "mirage_profile": "dbt-mi350x"},
        "a GPU emulated by rocjitsu with binary translation",
    ),
)
