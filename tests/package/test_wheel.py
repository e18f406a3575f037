"""The wheel: built from a clone, installed into fresh environments, used without the libraries of the system."""
import os
import pathlib
import re
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Libraries that every Linux machine has, as the rules of manylinux say.
OF_THE_SYSTEM = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|gcc_s|stdc\+\+)\.so.*)$")

FIVE_LINES = """\
import zwang, matplotlib; matplotlib.use("Agg")
result = zwang.run("slung_load", members=1000)
height = result.statistics["quantiles"].sel(observable="height")
height.plot.line(x="time")[0].figure.savefig("fan.png")
print(result.statistics)
"""


def run(*words, **settings):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **settings)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def environment(path, *packages):
    run(sys.executable, "-m", "venv", path)
    python = path / "bin" / "python"
    try:
        run(python, "-m", "pip", "install", "--quiet", *packages)
    except AssertionError as error:
        if "Could not find a version" in str(error) and "Connection" in str(error):
            pytest.skip("no network")
        raise
    return python


def clean():
    """The environment variables without those of the build folder."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    begun = time.monotonic()
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, ROOT, env=clean())
    print(f"pip wheel: {time.monotonic() - begun:.0f} s")
    (made,) = folder.glob("zwang-*.whl")
    return made


@pytest.mark.long
def test_the_wheel_brings_its_libraries_under_names_of_their_own(wheel, tmp_path):
    python = environment(tmp_path / "venv", wheel)
    (module,) = (tmp_path / "venv").glob("lib/python3*/site-packages/zwang/_core*.so")
    found = re.findall(r"^\s*(\S+) => (\S+)", run("ldd", module), re.M)
    assert len(found) > 5
    for name, path in found:
        inside = os.path.realpath(path).startswith(os.path.realpath(tmp_path))
        assert OF_THE_SYSTEM.match(name) or (inside and re.search(r"-[0-9a-f]{8}\.so", name)), (name, path)
    # Python's own ssl keeps its library, whichever module was loaded first.
    printed = run(python, "-c", "import zwang, ssl\nzwang.run('bouncing_ball', members=20, progress=False).statistics\n"
                  "print(open('/proc/self/maps').read())", env=clean(), cwd=tmp_path)
    assert "zwang/libraries/libhdf5" in printed


@pytest.mark.long
def test_the_wheel_works_where_the_libraries_are_not_installed(wheel, tmp_path):
    python = environment(tmp_path / "venv", wheel)
    hide = "for file in $(find /usr/lib /lib -name 'libnetcdf*' -o -name 'libhdf5*' -o -name 'libfmt*' -o -name 'libpugixml*'); do " \
           "test -f $file && mount --bind /dev/null $file; done"
    code = "import zwang; print(zwang.run('bouncing_ball', members=20, progress=False).statistics.sizes['measure'])"
    done = subprocess.run(["unshare", "--mount", "sh", "-c", f'{hide}; exec {python} -c "{code}"'], env=clean(),
                          capture_output=True, text=True)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("no mount namespaces here")
    assert done.returncode == 0 and int(done.stdout) > 3, done.stderr


@pytest.mark.long
def test_five_lines_give_a_dataset_and_a_picture(wheel, tmp_path):
    python = environment(tmp_path / "venv", wheel, "matplotlib")
    (tmp_path / "five.py").write_text(FIVE_LINES)
    printed = run(python, "five.py", cwd=tmp_path, env=clean())
    assert "<xarray.Dataset>" in printed and (tmp_path / "fan.png").stat().st_size > 5000
    assert "slung_load" in run(tmp_path / "venv" / "bin" / "zwang", "list", env=clean())


@pytest.mark.long
@pytest.mark.parametrize("numpy", ["numpy==1.26.*", "numpy>=2"])
def test_the_tests_pass_with_both_numpys(wheel, numpy, tmp_path, program):
    if numpy == "numpy==1.26.*" and sys.version_info >= (3, 13):
        pytest.skip("numpy 1.26 has no wheel for this Python")
    python = environment(tmp_path / "venv", wheel, numpy, "pytest", "scipy", "netCDF4")
    printed = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", ROOT / "tests" / "package", cwd=tmp_path,
                  env={**clean(), "ZWANG_PROGRAM": program})
    assert "passed" in printed and "failed" not in printed
    version = run(python, "-c", "import numpy; print(numpy.__version__)", env=clean())
    assert version.startswith("1.26" if "1.26" in numpy else "2")


@pytest.mark.long
def test_types_are_complete(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text(
        "import zwang\n"
        "study: zwang.Study = zwang.example('slung_load')\n"
        "result = zwang.run(study, members=10)\n"
        "number: int = result.summary['members']['entered']\n"
        "status: str = zwang.replay(study).status\n")
    run(sys.executable, "-m", "mypy", "--strict", "--config-file", ROOT / "pyproject.toml", "--cache-dir", tmp_path / "cache",
        ROOT / "python" / "zwang", cwd=tmp_path)
    run(sys.executable, "-m", "mypy", "--strict", "--config-file", ROOT / "pyproject.toml", "--cache-dir", tmp_path / "cache", "use.py",
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT / "python")})
    (tmp_path / "misuse.py").write_text("import zwang\nzwang.run('x', membres=10)\n")
    wrong = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", tmp_path / "cache", "misuse.py"], cwd=tmp_path,
                           capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(ROOT / "python")})
    assert "membres" in wrong.stdout


@pytest.mark.long
@pytest.mark.parametrize("notebook", sorted((ROOT / "examples" / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_the_notebooks_run(notebook, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    content = nbformat.read(notebook, as_version=4)
    assert all(not cell.get("outputs") for cell in content.cells), "notebooks are kept without outputs"
    nbclient.NotebookClient(content, timeout=300, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
