#!/usr/bin/env python3
"""Verifies that check_includes.py detects includes that are left out.

Writes small trees into a temporary folder and runs the check on them: complete ones must pass, and each include that is
taken away must be reported with its file, the name and the header.
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

FILES = {
    'kernels/base/status.h': '#pragma once\nnamespace zwang {\nenum class Status : int { ok, stopped };\n}\n',
    'kernels/dynamics/shock.h': '#pragma once\n#include "kernels/base/status.h"\n'
                                'namespace zwang {\ntemplate <class M>\nStatus apply_shock(M& member);\n}\n',
    'src/base/error.h': '#pragma once\nnamespace zwang {\nstruct Error {};\nconstexpr int most_errors = 20;\n}\n',
    'src/system/system.h': '#pragma once\n#include "src/base/error.h"\n'
                           'namespace zwang {\nclass System {\n  Error error() const;\n};\n}\n',
    # The header beside a source file may include for it.
    'src/system/system.cpp': '#include "src/system/system.h"\n'
                             'namespace zwang {\nError System::error() const { return {}; }\n}\n',
    'host/run/run.h': '#pragma once\nnamespace zwang {\nclass System;\nvoid run(const System& system);\n}\n',
    'host/command/main.cpp': '#include "host/run/run.h"\n#include "kernels/base/status.h"\n#include "src/base/error.h"\n'
                             '#include "src/system/system.h"\n'
                             'int main() {\n  zwang::System system;\n  zwang::run(system);\n'
                             '  return zwang::most_errors + static_cast<int>(zwang::Status::ok);\n}\n',
}

# What is taken away, and the report that must follow.
BREACHES = [
    ('kernels/dynamics/shock.h', 'kernels/base/status.h', 'kernels/dynamics/shock.h: Status (kernels/base/status.h)'),
    ('src/system/system.h', 'src/base/error.h', 'src/system/system.h: Error (src/base/error.h)'),
    ('host/command/main.cpp', 'host/run/run.h', 'host/command/main.cpp: run (host/run/run.h)'),
    ('host/command/main.cpp', 'src/base/error.h', 'host/command/main.cpp: most_errors (src/base/error.h)'),
    ('host/command/main.cpp', 'src/system/system.h', 'host/command/main.cpp: System (src/system/system.h)'),
]


def run_check(root, files, *options):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / 'tests').mkdir(exist_ok=True)
    (root / 'tests/check_layers.cmake').write_text((HERE / 'check_layers.cmake').read_text())
    done = subprocess.run([sys.executable, HERE / 'check_includes.py', '--root', root, *options],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    complaints = []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        code, report = run_check(root, FILES)
        if code != 0:
            complaints.append(f'a complete tree was refused:\n{report}')
        for file, header, expected in BREACHES:
            broken = dict(FILES)
            broken[file] = FILES[file].replace(f'#include "{header}"\n', '')
            code, report = run_check(root, broken)
            if code != 1 or expected not in report:
                complaints.append(f'expected "{expected}" and exit code 1, got {code}:\n{report}')
            # --fix adds the line again.
            run_check(root, broken, '--fix')
            if f'#include "{header}"' not in (root / file).read_text():
                complaints.append(f'--fix did not add {header} to {file}')
    for complaint in complaints:
        print(complaint)
    if not complaints:
        print(f'includes: all of {len(BREACHES)} breaches were reported')
    return 1 if complaints else 0


if __name__ == '__main__':
    sys.exit(main())
