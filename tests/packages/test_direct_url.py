"""Where a package was installed from, as its metadata say it."""

import pytest

from aorta_collectors.packages.direct_url import editable_project, parse_direct_url


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"url": "file:///src/my%20torch", "dir_info": {"editable": true}}', "/src/my torch"),
        ('{"url": "file://localhost/src/", "dir_info": {"editable": true}}', "/src"),
        ('{"url": "file:///src", "dir_info": {}}', None),
        ('{"url": "file:///src", "dir_info": {"editable": "yes"}}', None),
        ('{"url": "https://x/y.whl", "archive_info": {}}', None),
        ('{"url": "git+file:///src", "dir_info": {"editable": true}}', None),
        ('{"url": "file://other/src", "dir_info": {"editable": true}}', None),
        ('{"url": "file:///a%00b", "dir_info": {"editable": true}}', None),
        ('{"url": 3, "dir_info": {"editable": true}}', None),
        ('{"dir_info": []}', None),
        ("[" * 100_000, None),
        ("[]", None),
        ("{", None),
        ("", None),
        (None, None),
    ],
)
def test_the_project_of_an_editable_install(text, path):
    assert editable_project(text) == path


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{}", "no editable"),
        ('{"url": "file://server/a", "dir_info": {"editable": true}}', "of this machine"),
        ('{"url": "file:///a%00b", "dir_info": {"editable": true}}', "of a project"),
    ],
)
def test_why_there_is_none(text, why):
    with pytest.raises(ValueError, match=why):
        parse_direct_url(text)
