"""A C++ library whose symbols hold the names that torch's kernels have, in every position a name can have.

``built()`` compiles it once a process; ``printed()`` is what ``c++filt`` makes of mangled names.
"""

import atexit
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.parts.needs import need

#: One namespace each, with all kinds of members.
SPACES = ("pytorch_flash", "aotriton", "ck_tile", "aiter", "ck")
#: Names that only look like those.
NEAR = ("xaiter", "aiter_", "stack", "block", "my_ck_tile", "not_pytorch_flash", "aotritonx")

SPACE = """
namespace NAME {
  struct Plain { Plain(); ~Plain(); virtual int run(int) const; int field; static int counted; };
  Plain::Plain() {} Plain::~Plain() {} int Plain::run(int a) const { return a; } int Plain::counted = 1;
  struct FmhaFwdKernel { static int go(); }; int FmhaFwdKernel::go() { return 1; }
  struct FmhaBwdDQ { int go(); }; int FmhaBwdDQ::go() { return 2; }
  struct BlockFmhaPipeline { using type = int; };
  template <class T> struct TileFmhaShape { int of(T); struct Inner {}; };
  template <class T> int TileFmhaShape<T>::of(T) { return 3; }
  template struct TileFmhaShape<int>;
  template struct TileFmhaShape<BlockFmhaPipeline>;
  template <class... A> int many(A...) { return 4; }
  template int many<Plain*, FmhaFwdKernel const&, TileFmhaShape<BlockFmhaPipeline>::Inner>(
      Plain*, FmhaFwdKernel const&, TileFmhaShape<BlockFmhaPipeline>::Inner);
  template <class T, int N> typename T::type kentry(T, int (&)[N]) { return N; }
  template int kentry<BlockFmhaPipeline, 256>(BlockFmhaPipeline, int (&)[256]);
  Plain operator+(Plain const& a, Plain const&) { return a; }
  inline int twice() { static int local = 5; return local++; }
  int calls() { auto f = [](Plain const& p) { static int in_lambda = 7; return in_lambda++ + p.field; };
                return f(Plain()) + twice(); }
  int NAME_of(int Plain::*member, int (Plain::*method)(int) const) { return member && method; }
  namespace inner { inline namespace v2 { int deep(Plain) { return 6; } } struct Deep { int go(Plain const*); };
                    int Deep::go(Plain const*) { return 8; } }
  extern int variable; int variable = 9;
}
namespace outer { namespace NAME { int within() { return 10; } struct Within {}; } }
template <class T> int takes(T, NAME::FmhaFwdKernel*) { return 11; }
template int takes<NAME::Plain>(NAME::Plain, NAME::FmhaFwdKernel*);
template <class T> auto decides_NAME(T t) -> decltype(t.run(1)) { return t.run(1); }
template int decides_NAME<NAME::Plain>(NAME::Plain);
struct Of_NAME { operator NAME::Plain() const; }; Of_NAME::operator NAME::Plain() const { return {}; }
int as_parameter(NAME::Plain, outer::NAME::Within, NAME::inner::Deep) { return 12; }
"""
REST = """
namespace names {
  struct aiter { int go(); struct Member {}; }; int aiter::go() { return 1; }
  struct ck_tile { struct FmhaFwdNested {}; };
  int mha_fwd_ck(aiter, aiter::Member) { return 2; }
  int mha_fwd_aot(ck_tile::FmhaFwdNested) { return 3; }
  int aotriton(int) { static int aiter = 4; return aiter++; }
  int pytorch_flash() { return 5; }
  int group_gemm_ck_v2() { return 6; }
  int x_efficient_attention_forward() { return 7; }
  int N5aiter3foo() { return 8; }
  int S_7FmhaFwd(ck_tile) { return 9; }
  int uses_locals() { int ck = 1, aiter = 2; struct FmhaFwd { int go() { return 3; } } l; return ck + aiter + l.go(); }
}
int only_class(names::aiter*, names::ck_tile) { return 10; }
extern "C" int mha_fwd_ck_c() { return 11; }
extern "C" int aiter_c() { return 12; }
namespace { struct aiter_hidden { virtual int go(); }; int aiter_hidden::go() { return 13; } }
int shows(long) { aiter_hidden h; return h.go(); }
inline auto lambda_variable = [](names::aiter::Member) { static int kept = 14; return kept++; };
int calls_variable() { return lambda_variable({}); }
template <class T> struct Sized { template <class U> int of(T, U, decltype(sizeof(T) + 1)); };
template <class T> template <class U> int Sized<T>::of(T, U, decltype(sizeof(T) + 1)) { return 15; }
template int Sized<names::aiter>::of<names::ck_tile::FmhaFwdNested>(
    names::aiter, names::ck_tile::FmhaFwdNested, decltype(sizeof(names::aiter) + 1));
thread_local int aotriton_local = shows(1);
"""


@functools.cache
def built() -> Path:
    """Return the path of the library."""
    need("g++", "C++ symbols are made by g++ (Debian: apt install g++)")
    folder = Path(tempfile.mkdtemp(prefix="cxx-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    source = "".join(SPACE.replace("NAME", name) for name in (*SPACES, *NEAR)) + REST
    (folder / "source.cpp").write_text(source)
    command = ["g++", "-std=c++17", "-shared", "-fPIC", "-O0", "-o", "library.so", "source.cpp"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "library.so"


def printed(names) -> list[str]:
    """Return each name as ``c++filt`` prints it."""
    need("c++filt", "names are compared with c++filt (Debian: apt install binutils)")
    text = "".join(f"{name}\n" for name in names)
    done = subprocess.run(["c++filt"], input=text, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == len(names)
    return lines


@functools.cache
def printed_symbols() -> list[str]:
    """Return the defined dynamic symbols of the library as nm and c++filt print them."""
    need("nm", "symbols are compared with nm (Debian: apt install binutils)")
    command = ["nm", "-D", "--defined-only", "-C", str(built())]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split(None, 2)[2] for line in done.stdout.splitlines()]
