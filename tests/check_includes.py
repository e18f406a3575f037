#!/usr/bin/env python3
"""Every file includes what it names.

A name declared at namespace scope in exactly one header of kernels/, src/ or host/ must be reached by a direct include:
the file that uses it includes that header itself, or, for x.cpp, the header x.h beside it does. Names are found by a
light tokenizer, not by a compiler, so names declared in several headers and members of types are not checked.

The include graph of units has no cycles: x.h and x.cpp count as one unit, so that every unit can be read, tested and
replaced after the units it includes.

    tests/check_includes.py [--root DIR]      lists offences, exit code 1 if there are any:
                                              file: name (header), and cycles as unit -> unit -> ...
    tests/check_includes.py --fix             adds the missing include lines
"""
import argparse
import collections
import pathlib
import re
import sys

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
                   r'|[A-Za-z_]\w*|::|->|[{}()<>;=,&*#.\[\]:~]|\n', re.S)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
DEFINE = re.compile(r'^\s*#\s*define\s+(ZWANG_\w+)', re.M)
KEYWORDS = set('''alignas alignof auto bool break case catch char class const constexpr continue decltype default delete
do double else enum explicit extern false float for friend if inline int long mutable namespace new noexcept nullptr
operator private protected public requires return short signed sizeof static static_assert static_cast struct switch
template this throw true try typedef typename union unsigned using virtual void volatile while const_cast
reinterpret_cast dynamic_cast std size_t concept'''.split())
# Names that also belong to the standard library's containers and algorithms: never checked.
COMMON = {'begin', 'end', 'size', 'data', 'swap', 'copy', 'move', 'sort', 'get'}


CONSTANTS = set()  # constexpr names at namespace scope, filled by names_of


def tokens(text):
    """Code tokens, without comments, strings and preprocessor lines."""
    text = re.sub(r'^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', '', text, flags=re.M)
    found = []
    for match in TOKEN.finditer(text):
        token = match.group(0)
        if token[0] in '/"\'\n' or token.startswith('R"'):
            continue
        found.append(token)
    return found


def declared(text):
    """Names a header declares in namespace zwang: types, aliases, functions, constants, macros."""
    names = set(DEFINE.findall(text))
    stream = tokens(text)
    depth, scopes, i = 0, [], 0
    paren = 0
    statement = []  # tokens since the last ; { or } at namespace scope
    while i < len(stream):
        token = stream[i]
        at_namespace = all(scope == 'namespace' for scope in scopes)
        if token == '{':
            kind = 'namespace' if statement in (['namespace', 'zwang'], ['namespace']) else 'other'
            if at_namespace and kind == 'other' and paren == 0:
                names |= names_of(statement, defines=True)
            scopes.append(kind)
            statement = [] if paren == 0 else statement
        elif token == '}':
            if scopes:
                scopes.pop()
            if all(scope == 'namespace' for scope in scopes):
                statement = []
        elif at_namespace:
            if token == '(':
                paren += 1
            elif token == ')':
                paren -= 1
            if token == ';' and paren == 0:
                names |= names_of(statement)
                statement = []
            else:
                statement.append(token)
        i += 1
    return names


def without_template(statement):
    """The statement after a leading template<...>."""
    while statement and statement[0] == 'template':
        depth = 0
        for k, token in enumerate(statement):
            if token == '<':
                depth += 1
            elif token == '>':
                depth -= 1
                if depth == 0 and k > 0:
                    statement = statement[k + 1:]
                    break
        else:
            return []
    return statement


def names_of(statement, defines=False):
    statement = without_template(statement)
    # ZWANG_FUNCTION(name, ...) at namespace scope declares the names it is given.
    if len(statement) > 2 and statement[0].startswith('ZWANG_') and statement[1] == '(':
        return {token for token in statement[2:] if re.match(r'[a-z_]\w*$', token) and token not in KEYWORDS}
    statement = [token for token in statement if not token.startswith('ZWANG_')]
    if not statement or statement[0] in ('friend', 'extern') or 'operator' in statement:
        return set()
    if statement[0] == 'using':
        return {statement[1]} if len(statement) > 2 and statement[2] == '=' else set()
    if statement[0] in ('struct', 'class', 'enum', 'union'):
        rest = [token for token in statement[1:] if token not in ('class', 'struct')]
        if rest and rest[0] == 'alignas':
            rest = rest[rest.index(')') + 1:]
        # A forward declaration ("class Sampler;") and a specialisation declare nothing new.
        if (len(rest) == 1 and not defines) or (len(rest) > 1 and rest[1] == '<'):
            return set()
        return {rest[0]} if rest else set()
    for k, token in enumerate(statement):
        if token in ('(', '=', '[') and k > 0:
            name = statement[k - 1]
            if re.match(r'[A-Za-z_]', name) and name not in KEYWORDS and (k < 2 or statement[k - 2] != '::'):
                if token == '=' and 'constexpr' in statement:
                    # constexpr int a = 1, b = 2;
                    also = {statement[j - 1] for j in range(k, len(statement)) if statement[j] == '=' and
                            statement[j - 2] in (',', statement[k - 2])}
                    CONSTANTS.update(also | {name})
                    return also | {name}
                return {name}
            return set()
    return set()


def used(text):
    stream = tokens(text)
    names = set(re.findall(r'\bZWANG_[A-Z_]+\b', re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', '', text)))
    for i, token in enumerate(stream):
        if not re.match(r'[A-Za-z_]', token) or token in KEYWORDS:
            continue
        before = stream[i - 1] if i else ''
        if before in ('.', '->'):
            continue
        if before == '::' and (i < 2 or stream[i - 2] != 'zwang'):
            continue
        names.add(token)
    return names


def called_or_type(text, name):
    """Functions count where they are called, types and constants (capitals, or followed by no parenthesis) anywhere."""
    if name[0].isupper() or name in CONSTANTS:
        return True
    return re.search(r'(?<![\w.>:])' + name + r'\s*(<[^;(){}]*>)?\(', text) is not None


def is_local(text, name):
    """Declared by this file itself: a nested type, an alias, a member function, a lambda or a variable."""
    if name in CONSTANTS:
        return re.search(r'\b(?:constexpr|const)\b[^;(){}]*\b' + name + r'\s*(?:=|\[|\{)', text) is not None
    return re.search(r'\b(?:struct|class|enum|using|concept)\s+(?:class\s+)?' + name + r'\b', text) is not None or \
        re.search(r'[\w>&*]\s+' + name + r'\s*(?:\(|=|;|,|\)|:|\{|\[)', re.sub(r'\breturn\b|\belse\b|\bcase\b|\bthrow\b', '(', text)) is not None


def read_rooms(root):
    """The rooms of each folder, lowest first, as tests/check_layers.cmake lists them."""
    text = (root / 'tests/check_layers.cmake').read_text()
    return {match.group(1): match.group(2).split() for match in re.finditer(r'set\((\w+)_rooms ([^)]*)\)', text)}


def visible(rooms, path, home):
    """Whether a file may include a header at all, by the order of folders and rooms."""
    folder, room = path.split('/')[0], '/'.join(path.split('/')[1:-1])
    home_folder, home_room = home.split('/')[0], '/'.join(home.split('/')[1:-1])
    if folder == home_folder:
        return rooms[folder].index(home_room) <= rooms[folder].index(room)
    if folder == 'src':
        return home in ('kernels/base/status.h', 'kernels/base/layout.h')
    # The host shares data layouts with the kernels; other names of the kernels are not meant where the host uses them.
    return folder == 'host' and (home_folder == 'src' or home_room in ('reduce', 'sampling') or home in (
        'kernels/base/status.h', 'kernels/base/layout.h'))


def insert(text, header):
    line = f'#include "{header}"\n'
    block = []
    for match in re.finditer(r'^#include "[^"]+"\n', text, re.M):
        if block and match.start() != block[-1].end():
            block = []
        block.append(match)
    for match in block:
        if match.group(0) > line:
            return text[:match.start()] + line + text[match.start():]
    if block:
        return text[:block[-1].end()] + line + text[block[-1].end():]
    system = list(re.finditer(r'^#include <[^>]+>\n', text, re.M))
    if system:
        return text[:system[-1].end()] + '\n' + line + text[system[-1].end():]
    once = text.index('#pragma once\n') + len('#pragma once\n')
    return text[:once] + '\n' + line + text[once:]


def unit_graph(texts):
    """The units (path without suffix) that each unit includes."""
    graph = collections.defaultdict(set)
    for path, text in texts.items():
        unit = str(path.with_suffix(''))
        included = {str(pathlib.PurePath(header).with_suffix('')) for header in INCLUDE.findall(text)}
        graph[unit] |= included - {unit}
    return graph


def strong_components(graph):
    """Sets of units that include each other, directly or not (Tarjan's algorithm, without recursion)."""
    number, low, on_path, path, components = {}, {}, set(), [], []
    for root in sorted(graph):
        if root in number:
            continue
        stack = [(root, iter(sorted(graph[root])))]
        number[root] = low[root] = len(number)
        path.append(root)
        on_path.add(root)
        while stack:
            unit, successors = stack[-1]
            descended = False
            for successor in successors:
                if successor not in number:
                    number[successor] = low[successor] = len(number)
                    path.append(successor)
                    on_path.add(successor)
                    stack.append((successor, iter(sorted(graph.get(successor, ())))))
                    descended = True
                    break
                if successor in on_path:
                    low[unit] = min(low[unit], number[successor])
            if descended:
                continue
            stack.pop()
            if stack:
                low[stack[-1][0]] = min(low[stack[-1][0]], low[unit])
            if low[unit] == number[unit]:
                start = path.index(unit)
                component = path[start:]
                del path[start:]
                on_path.difference_update(component)
                if len(component) > 1:
                    components.append(set(component))
    return components


def shortest_cycle(graph, component):
    """One shortest cycle inside a component, as a list that begins and ends with the same unit."""
    best = None
    for start in sorted(component):
        before, queue = {start: None}, collections.deque([start])
        while queue:
            unit = queue.popleft()
            if start in graph[unit]:
                cycle = [start]
                while unit is not None:
                    cycle.append(unit)
                    unit = before[unit]
                if best is None or len(cycle) < len(best):
                    best = cycle[::-1]
                break
            for successor in sorted(graph[unit] & component):
                if successor not in before:
                    before[successor] = unit
                    queue.append(successor)
    return best


def report_cycles(texts):
    """Prints the cycles of the unit graph and returns their number: one for each set of units that include each other."""
    graph = unit_graph(texts)
    components = strong_components(graph)
    for component in components:
        print('cycle of units: ' + ' -> '.join(shortest_cycle(graph, component)))
        rest = sorted(component - set(shortest_cycle(graph, component)))
        if rest:
            print('  also in cycles with these: ' + ', '.join(rest))
    return len(components)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--root', type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument('--fix', action='store_true')
    parser.add_argument('--unused', action='store_true', help='list includes of which no name is used')
    options = parser.parse_args()
    files = sorted(path.relative_to(options.root) for folder in ('kernels', 'src', 'host')
                   for path in (options.root / folder).rglob('*') if path.suffix in ('.h', '.cpp'))
    texts = {path: (options.root / path).read_text() for path in files}
    rooms = read_rooms(options.root)
    homes = collections.defaultdict(set)
    declares = {}
    for path, text in texts.items():
        if path.suffix == '.h':
            declares[str(path)] = declared(text)
            for name in declares[str(path)]:
                homes[name].add(str(path))
    cycles = report_cycles(texts)
    offences = 0
    for path, text in texts.items():
        own = str(path.with_suffix('.h'))
        direct = set(INCLUDE.findall(text))
        if path.suffix == '.cpp' and own in direct and pathlib.Path(own) in texts:
            direct |= set(INCLUDE.findall(texts[pathlib.Path(own)])) | {own}
        code = ''.join(t + ' ' for t in tokens(text))
        own_code = ''
        if path.suffix == '.cpp' and pathlib.Path(own) in texts:
            own_code = ''.join(t + ' ' for t in tokens(texts[pathlib.Path(own)]))
        local = declared(text) if path.suffix == '.cpp' else declares[str(path)]
        names = used(text)
        missing = collections.defaultdict(list)
        for name in sorted(names):
            known = [home for home in homes[name] if visible(rooms, str(path), home)]
            if len(known) != 1 or name in local or name in COMMON:
                continue
            (home,) = known
            if home == str(path) or home in direct:
                continue
            if not name.startswith('ZWANG_') and (not called_or_type(code, name) or is_local(code, name)
                                                  or (own_code and is_local(own_code, name))):
                continue
            if re.search(r'^(class|struct) ' + name + ';', text, re.M):
                continue  # a forward declaration is enough
            missing[home].append(name)
        for home, these in missing.items():
            offences += 1
            print(f'{path}: {", ".join(these)} ({home})')
            if options.fix:
                text = insert(text, home)
        if options.unused:
            for header in set(INCLUDE.findall(text)) - {own}:
                if header in declares and not (declares[header] & names):
                    print(f'{path}: unused {header}')
        if options.fix and text != texts[path]:
            (options.root / path).write_text(text)
    if offences and not options.fix:
        print(f'{offences} includes are missing; tests/check_includes.py --fix adds them')
    return 1 if cycles or (offences and not options.fix) else 0


if __name__ == '__main__':
    sys.exit(main())
