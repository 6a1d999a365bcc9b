"""Rare constructs of mangled names, each against what c++filt prints."""

import pytest

from aorta_collectors.mangled import qualified_names
from tests.parts import cxx_library
from tests.pytorch.test_symbols import pairs

#: One for each construct that compilers make seldom; all are names that c++filt understands.
NAMES = """
_ZTCN1a1BE8_N1c1DE
_ZThn16_N1a1B1fEv
_ZTv0_n24_N1a1B1fEv
_ZTch0_h16_N1a1B1fEv
_ZGTtN1a1fEv
_ZTHN1a1bE
_ZTWN1a1bE
_ZTAXadL_ZN1a1bEEE
_ZN1a1fB5cxx11Ev
_ZN1aL1fEv
_ZNR1a1b1fEv
_ZNKO1a1b1fEv
_ZN1aplERKNS_1bES2_
_ZN1a1bcvNS_1cEEv
_ZN1a1bcvT_INS_1cEEEv
_ZN1ali2_kEy
_ZN1a1bnwEm
_ZN1a1bD0Ev
_ZN1a1bC2IiEET_
_ZN1b1cCI1N1a1dEEi
_ZN1aDC1b1cEE
_ZN1aUt_E1b
_ZZN1a1fEvENUt0_1gEv
_ZZN1a1fEvENKUlT_E_clINS_1bEEEDaS0_
_ZZN1a1fEvENKUlTyT_E_clINS_1bEEEDaS0_
_ZZN1a1fEvENKUlTnN1a1dETyT_E_clILi0ENS_1bEEEDaS0_
_ZZN1a1fEvEs
_ZZN1a1fEvE1x__12_
_ZZN1a1fEvE1x_0
_ZZN1a1fEiEd_NKUlvE_clEv
_ZZN1a1fEiEd0_NKUlvE_clEv
_ZN1a1fEPFvNS_1bEE
_ZN1a1fEPVKNS_1bE
_ZN1a1fEMNS_1bEFvNS_1cEE
_ZN1a1fEMNS_1bEKFvvE
_ZN1a1fEMNS_1bEFvvRE
_ZN1a1fERA10_NS_1bE
_ZN1a1fERA_NS_1bE
_ZN1a1fEDv4_NS_1bE
_ZN1a1fEDv_Li4E_f
_ZN1a1fECfGd
_ZN1a1fEDnDiDsDuDhDdDeDf
_ZN1a1fEDF16_DF32_DF16b
_ZN1a1fEPDoFvvE
_ZN1a1fEPDOLb1EEFvvE
_ZN1a1fEPDwN1a1bEEFvvE
_ZN1a1fEu9__float80
_ZN1a1fEU8externalNS_1bE
_ZN1a1fEU3AS1PNS_1bE
_ZN1a1fEOSt6vectorINS_1bESaIS1_EE
_ZN1a1fESsSiSoSd
_ZN1a1fESbIwSt11char_traitsIwESaIwEE
_ZN1a1fENSt3__16vectorIiEE
_ZN1a1fIJNS_1bENS_1cEEEEvDpT_
_ZN1a1fIJNS_1bENS_1cEEEEvDpNT_1dE
_ZN1a1fINS_1bEEEvNT_1tE
_ZN1a1fI1bEENT_IiE1cES2_
_ZN1a1fILin5EEEvv
_ZN1a1fILNS_1bE3EEEvv
_ZN1a1fILd4000000000000000EEEvv
_ZN1a1fILDnEEEvv
_ZN1a1fIXadL_ZN1a1gEvEEEEvv
_ZN1a1fIL_ZN1b1cEEEEvv
_ZN1a1fILZN1b1cEEEEvv
_ZN1a1fIiEEDTcl1gfp_EET_
_ZN1a1fIiEEDTcl1gIT_Efp_EES1_
_ZN1a1fIiEEDTplfp_fp0_ES1_S1_
_ZN1a1fIiEEDTquLb1Efp_fp_ES1_
_ZN1a1fIiEEDTcv1bfp_ES1_
_ZN1a1fIiEEDTcv1b_fp_fp_EES1_
_ZN1a1fIiEEDTtlNS_1bEfp_EES1_
_ZN1a1fIiEEDTilfp_EES1_
_ZN1a1fIiEEDTnw_NS_1bEpifp_EES1_
_ZN1a1fIiEEDTscNS_1bEfp_ES1_
_ZN1a1fIiEEDTdcNS_1bEfp_ES1_
_ZN1a1fIiEEDTstNS_1bEES1_
_ZN1a1fIiEEDTszfp_ES1_
_ZN1a1fIiEEDTpp_fp_ES1_
_ZN1a1fIiEEDTmmfp_ES1_
_ZN1a1fIiEEDTdtfp_1gES1_
_ZN1a1fIiEEDTptfp_1gES1_
_ZN1a1fIiEEDTcldtfp_1gIT_EEES1_
_ZN1a1fIiEEDTgs1gES1_
_ZN1a1fIiEEDTsr1bIT_E1gES1_
_ZN1a1fIiEEDTsrNS_1bE1gES1_
_ZN1a1fIiEEDTsrNS_1bEonplES1_
_ZN1a1fIiEEDTonplES1_
_ZN1a1fIiEEDTtwfp_ES1_
_ZN1a1fIiEEDTtrES1_
_ZN1a1fIJiiEEEDTsZT_EDpT_
_ZN1a1fIJiiEEEDTsZfp_EDpT_
_ZN1a1fIJiiEEEDTsPDpT_EES2_
_ZN1a1fIJiiEEEDTflplfp_EDpT_
_ZN1a1fIJiiEEEDTfLplLi0Efp_EDpT_
_ZN1a1fIJiiEEEDTspfp_EDpT_
_ZN1a1fINS_1bEEEvDtfp_E
_ZNDTfp_E1gEv
_ZN12_GLOBAL__N_11a1fEv
_ZNSt1a1fEv
_ZSt1fN1a1bE
_ZSt1fIN1a1bEEvT_
_ZSt4fxxxN1a1bE.isra.0
_ZN1a1fEv.part.0.cold
""".split()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_printed(name):
    line = cxx_library.printed([name])[0]
    assert line != name
    told = set().union(*(pairs(text) for text in qualified_names(name)))
    assert {pair for pair in told if not pair[1].startswith("operator")} == {
        pair for pair in pairs(line) if not pair[1].startswith("operator")
    }, line


#: What later compilers write, which the c++filt here leaves as it is.
LATER = """
_ZGRN1a1bE_ _ZN1a1fETsN1b1cE _ZN1a1fITtTyENS_1bEEEvv _ZN1a1fILA3_KcEEEvv _ZN1a1fIiEEDTplfL0p_fL0p0_ES1_S1_
_ZN1a1fIiEEDTatNS_1bEES1_ _ZN1a1fIiEEDTtiNS_1bEES1_ _ZN1a1fIiEEDTtefp_ES1_ _ZN1a1fIiEEDTnxfp_ES1_ _ZN1a1fIiEEDTfpTE _ZN1a1fIiEEDTclfpK_EES1_
_ZN1a1fITnDaLi1ETpTyJiiEEEvv _ZN1a1fITk1b1cEEvv _ZN1a1fEDB8_ _ZN1a1fEDULi8E_ _ZN1a1fIiQsr1bE1cEEvv
_ZN1a1fIiEEvT_QLb1E _ZNH1a1b1fEv _ZN1a1fITpTtTyEiEEvv
""".split()


@pytest.mark.parametrize("name", LATER)
def test_what_later_compilers_write(name):
    assert any(text.startswith("a::") for text in qualified_names(name))


@pytest.mark.parametrize(
    "name",
    """
a::b _Z _ZN1a _ZN1a1bEEE _ZNE _ZN1a2bE _ZN1a0bE _Z1fS_ _Z1fS0_ _Z1fT _ZGX1a _ZTX _ZTc _ZN1aqqE _ZN1aCxE _ZN1aUxE _ZN1a1fIE _Z1fDz _Z1fIXqq1aEEvv
_ZN1a1fILi5 _ZZ1fv _ZZ1fvE _Z1fA _Z1fM _ZN1a1fITtiEEvv _Z1fDF _Z1f? _ZN1a1fEDv _ZIiE _ZNIiEE _ZN1a99999999bE
""".split(),
)
def test_what_is_no_mangled_name(name):
    with pytest.raises(ValueError):  # noqa: PT011 - all are, and none says more than why
        print(qualified_names(name))


def test_names_without_an_end():
    doubling = "1gIJT_T_EEvv"
    for _ in range(40):
        doubling = f"1gIJT_T_EEvDTL_Z{doubling}EE"
    for name in ("_Z1f" + "P" * 50_000 + "i", "_Z1fI" + "J1aE" * 4000, f"_Z1fIJN1a1bEEEvDTL_Z{doubling}EE"):
        with pytest.raises(ValueError):  # noqa: PT011
            qualified_names(name)
