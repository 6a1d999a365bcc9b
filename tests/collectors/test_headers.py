"""Header macros, with every trap that was seen."""

import pytest

from aorta_collectors.tree.headers import dotted, number, parse_defines, version, word

ROCBLAS = "#define ROCBLAS_VERSION_MAJOR       {0}\n#define ROCBLAS_VERSION_MINOR       {1}\n#define ROCBLAS_VERSION_PATCH       {2}\n"


@pytest.mark.parametrize(
    ("line", "tweak"),
    [
        ("#define V_TWEAK       8d1ae90e\n", "8d1ae90e"),
        ("#define V_TWEAK\tdabb6df2b9", "dabb6df2b9"),
        ("#define V_TWEAK 4a92c6f1-dirty\r\n", "4a92c6f1-dirty"),
        ("#define V_TWEAK 0\n", "0"),
        ("#define V_TWEAK 12345678\n", "12345678"),
        ("#define V_TWEAK 1234e567\n", "1234e567"),
        ("  #  define V_TWEAK abc // released\n", "abc"),
        ("#define V_TWEAK /* which */ abc /* this */\n", "abc"),
        ('#define V_TWEAK "abc"\n', "abc"),
        ("#define V_TWEAK \\\n   abc\n", "abc"),
        ("#define V_TWEAK(X) abc\n", None),
        ("#define V_TWEAKER abc\n", None),
        ("#define V_TWEAK   \n\n#endif\n", None),
        ("#define V_TWEAK abc def\n", None),
        ("#define V_TWEAK " + "a" * 100, None),
        ("", None),
    ],
)
def test_a_tweak_is_a_word_never_a_number(line, tweak):
    assert word(parse_defines(line), "V_TWEAK") == tweak


def test_w21_an_empty_define_does_not_take_the_next_line():
    defines = parse_defines('#define V_TWEAK\n\nextern "C" {\n#define V_COMMIT_ID   \n\n#endif\n')
    assert defines == {"V_TWEAK": "", "V_COMMIT_ID": ""}


@pytest.mark.parametrize(
    "comment",
    [
        "// #define V 1\n",
        "/* #define V 1 */\n",
        "/*\n#define V 1\n*/\n",
        " * #define V 1\n",
        "#if 0\n#define V 1\n#endif\n",
        "#if 0\n#ifdef X\n#define V 1\n#endif\n#define V 3\n#endif\n",
        '#define URL "http://x /* y"\n',
    ],
)
def test_w21_a_define_in_a_comment_does_not_count(comment):
    assert number(parse_defines(comment + "#define V 2\n"), "V") == 2


def test_the_other_branch_of_if_0_counts():
    assert number(parse_defines("#if 0\n#define V 1\n#else\n#define V 2\n#endif\n"), "V") == 2


def test_two_different_definitions_decide_nothing():
    text = "#ifdef A\n#define V 1\n#else\n#define V 2\n#endif\n#define W 1\n#define W 1\n"
    assert parse_defines(text) == {"W": "1"}


def test_undef_takes_back():
    assert parse_defines("#define V 1\n#undef V\n#define V 2\n#undef OTHER\n") == {"V": "2"}
    assert parse_defines("#define V 1\n#define V 2\n#undef V\n#define V 3\n") == {"V": "3"}


def test_stray_directives_and_endless_comment():
    assert parse_defines("#endif\n#else\n#define\n#define 9x 1\n#define V 1\n/* open\n#define W 1\n") == {
        "V": "1"
    }


def test_numbers():
    defines = parse_defines(
        "#define A 10u\n#define B (7)\n#define C A + 1\n#define D 99999999999999999999\n#define E -1\n"
    )
    assert [number(defines, name) for name in "ABCDEF"] == [10, 7, None, None, None, None]


def test_versions_need_all_parts():
    defines = parse_defines(ROCBLAS.format(2, 44, 0))
    assert version(defines, "ROCBLAS_VERSION_") == "2.44.0"
    assert dotted(defines, "ROCBLAS_VERSION_MAJOR", "OTHER") is None


def test_a_function_like_macro_beside_the_plain_one():
    text = "#define NCCL_VERSION_CODE 22707\n#define NCCL_VERSION(X,Y,Z) (((X) <= 2) ? (X) * 1000 : (X) * 10000)\n"
    assert parse_defines(text) == {"NCCL_VERSION_CODE": "22707"}


def test_hostile_headers_are_quick():
    parse_defines("/*" * 200_000)
    parse_defines('"' * 200_000)
    parse_defines("#define " + "A" * 500_000 + " " * 400_000)
    parse_defines("#if 0\n" * 100_000)
