#!/usr/bin/env python3
"""Writes studies of long systems: chains and trees of rods, ropes of strings, closed loops of rods.

    python3 bench/long_systems.py chain 40 > chain40.toml
    python3 bench/long_systems.py rope 20 --seconds 0.5 --rtol 1e-8 > rope20.toml

chain  n rods in a row from a nail, from horizontal rest
rope   n strings in a row, which may go slack, bunched up beside the nail
tree   n rods; rod i hangs from the point of rod (i - 1) / 2: two branches at every point
loop   n rods in a row, hung up at both ends: a closed loop with the ground

The whole length of a chain is 1, and so is its whole mass, so that the motion of a long one resembles that of a short
one. Gravity differs by 1 % from member to member.
"""

import argparse
import math
import sys

HEAD = """\
title = "Long system: {kind} of {count}"

[parameters]
g = {{ uniform = [9.7119, 9.9081] }}    # 9.81 +- 1 %

[[anchor]]
name = "nail"
position = [0, 0]
"""

TAIL = """
[system]
gravity = [0, "-g"]
{constraints}
[ensemble]
members = {members}
seed = 1

[time]
at = [{seconds}]

[integrator]
rtol = {rtol}
atol = {rtol}

[measure]
x_end  = "final({last}.x)"
y_end  = "final({last}.y)"
"""


def places(kind, count):
    """The points of the system, as (name, x, y), the parent of each, and the length of its link."""
    length = 1 / count
    if kind == "chain":
        return [(f"p{i + 1}", (i + 1) * length, 0) for i in range(count)], [i - 1 for i in range(count)], [length] * count
    if kind == "rope":
        # Folded to and fro at a tenth of the string's length, sinking slowly: every string starts slack.
        points = [(f"p{i + 1}", (0.05 + 0.1 * (i % 2)) * length, -0.03 * i * length) for i in range(count)]
        return points, [i - 1 for i in range(count)], [length] * count
    if kind == "tree":
        points, parents = [], []
        for i in range(count):
            parent = -1 if i == 0 else (i - 1) // 2
            level = int(math.log2(i + 1))
            angle = -math.pi / 2 + (0 if i == 0 else (0.5 if i % 2 else -0.7) + 0.1 * level)
            x, y = (0, 0) if parent < 0 else points[parent][1:]
            points.append((f"p{i + 1}", x + 0.2 * math.cos(angle), y + 0.2 * math.sin(angle)))
            parents.append(parent)
        return points, parents, [0.2] * count
    # Two straight halves that meet at the lowest point; the second anchor closes the loop.
    half = 0.8 / count
    drop = math.sqrt(length**2 - half**2)
    points = [(f"p{i + 1}", (i + 1) * half, -min(i + 1, count - 1 - i) * drop) for i in range(count - 1)]
    return points, [i - 1 for i in range(count - 1)], [length] * (count - 1)


def constraint(name, require):
    return f'\n[[constraint]]\nname = "{name}"\nrequire = "{require}"\n'


def study(kind, count, seconds, rtol, members):
    points, parents, lengths = places(kind, count)
    text = HEAD.format(kind=kind, count=count)
    if kind == "loop":
        if count % 2:
            sys.exit("a loop has an even number of rods")
        text += f'\n[[anchor]]\nname = "far"\nposition = [{0.8!r}, 0]\n'
    for name, x, y in points:
        text += f'\n[[point]]\nname = "{name}"\nmass = {1 / count!r}\nposition = [{x!r}, {y!r}]\n'
    sign = "<=" if kind == "rope" else "=="
    constraints = ""
    for i, parent in enumerate(parents):
        other = "nail" if parent < 0 else points[parent][0]
        constraints += constraint(f"link{i + 1}", f"distance({points[i][0]}, {other}) {sign} {lengths[i]!r}")
    if kind == "loop":
        constraints += constraint(f"link{count}", f"distance(far, {points[-1][0]}) == {1 / count!r}")
    return text + TAIL.format(constraints=constraints, members=members, seconds=seconds, rtol=rtol, last=points[-1][0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["chain", "rope", "tree", "loop"])
    parser.add_argument("count", type=int, help="rods or strings")
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--rtol", type=float, default=1e-8)
    parser.add_argument("--members", type=int, default=64)
    chosen = parser.parse_args()
    sys.stdout.write(study(chosen.kind, chosen.count, chosen.seconds, chosen.rtol, chosen.members))


if __name__ == "__main__":
    main()
