"""Expressions of CEL at random, most of which can be checked and evaluated: what ours and cel-go are compared with."""

import random

NAMES = ("a", "b", "name", "size")
STRINGS = ("'a'", "'abc'", "''", "'5'", "'1Gi'", "'a,b'", "'\\u00e9x'", "'10.0.0.1'", "'2026-01-01T00:00:00Z'", "'1h'")
INTS = ("0", "1", "2", "-1", "7", "9223372036854775807", "-9223372036854775808")
DOUBLES = ("0.0", "1.5", "-2.25", "1e10", "1e-7")
ZONES = ("'UTC'", "'Europe/Berlin'", "'+05:30'", "'-1:00'", "'Nowhere/Else'", "'7:5'", "'+1:x'", "':'", "'-99:-99'", "'1:30\\n'", "''")
URLS = ("'https://user:pw@a.example:8443/p/q%20r?a=1&a=2#f'", "'http://[::1]:80/'", "'/only/a/path?a=b'", "'://'", "object.name")
URL_PARTS = ("getScheme", "getHost", "getHostname", "getPort", "getEscapedPath")
QUANTITIES = ("'1Gi'", "'100m'", "'1000m'", "'-3'", "'1.5k'", "'1.0'", "'0.5Gi'", "'1e3'", "'12E'", "'1Ei'", "'0'", "'x'", "object.name")
FORMATS = ("dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "dns1123LabelPrefix", "dns1123SubdomainPrefix",
           "dns1035LabelPrefix", "labelValue", "uri", "uuid", "byte", "date", "datetime")
FORMATTED = ("'a.b'", "'example.com/My_Name'", "'a/b/c'", "'/x'", "'a-'", "'_-'", "'Abc'", "'YWJj'", "'YQ=='", "'YQ'", "'2026-02-29'",
             "'2024-02-29'", "'2026-01-01T00:00:00Z'", "'2026-01-01t23:59:59x5+01:00'", "'2026-01-01T24:00:00Z'",
             "'0123456789abcdef0123456789ABCDEF'", "'01234567-89ab-cdef0123-456789abcdef'", "'0123456789abcdef'",
             "'https://a.example/b'", "'a-very-long-name-that-has-more-than-sixty-three-characters-in-it-all'")
ADDRESSES = ("'10.0.0.1'", "'127.0.0.1'", "'::1'", "'fe80::1'", "'1::0:1'", "'0.0.0.0'", "'x'", "object.name", "'1.2.3'", "'1.2.3.04'",
             "'1.2.3.256'", "'1..2.3'", "'1.2.3.'", "'1.2.3.4.5'", "'1.2.3.x'", "'::ffff:1.2.3.4'", "'1::2::3'", "'fe80::1%eth0'",
             "'fe80::1%'", "'a%b'", "'1:2:3'", "'12345::'", "':1'", "'1:'", "'1:2:3:4:5:6:7:8:9'", "'1:2:3:4:5:6:7:8::'", "'::1.2.3.x'",
             "'1:2:1.2.3.4'", "'1:2:3:4:5:6:1.2.3.4'", "'1:2:3:4:5:6:7:1.2.3.4'", "'1:2x'", "'\\u00e9:1'")
RANGES = ("'10.0.0.0/8'", "'10.1.2.3/16'", "'::/0'", "'fe80::/10'", "'10.0.0.0'", "'0.0.0.0/0'", "'10.0.0.0/33'", "'10.0.0.0/08'",
          "'10.0.0.0/+8'", "'10.0.0.0/'", "'fe80::%a/64'", "'::ffff:1.2.3.4/96'", "'x/8'", "'::/129'")
UINTS = ("0u", "1u", "18446744073709551615u")


class Generator:
    """Each method makes an expression of the type that it is named after; `depth` is how many more levels it may have."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.variables = []

    def any(self, depth):
        kinds = (self.bool, self.int, self.string, self.double, self.list, self.map, self.uint, self.duration, self.timestamp, self.optional)
        return self.random.choice(kinds)(depth)

    def pick(self, *choices):
        return self.random.choice(choices)()

    def of(self, kind):
        named = [name for name, of in self.variables if of == kind]
        return self.random.choice(named) if named and self.random.random() < 0.6 else None

    def bool(self, depth):
        if depth <= 0:
            return self.of("bool") or self.random.choice(("true", "false", "has(object.a)", "has(object.none)"))
        d = depth - 1
        comparison = self.random.choice(("<", "<=", ">", ">=", "==", "!="))
        return self.pick(
            lambda: f"({self.bool(d)} {self.random.choice(('&&', '||'))} {self.bool(d)})",
            lambda: f"!{self.bool(d)}" if self.random.random() < 0.5 else f"!({self.bool(d)})",
            lambda: f"({self.int(d)} {comparison} {self.int(d)})",
            lambda: f"({self.string(d)} {comparison} {self.string(d)})",
            lambda: f"(dyn({self.double(d)}) {comparison} {self.int(d)})",
            lambda: f"({self.uint(d)} {comparison} {self.uint(d)})",
            lambda: f"({self.duration(d)} {comparison} {self.duration(d)})",
            lambda: f"({self.int(d)} in {self.list(d)})",
            lambda: f"({self.string(d)} in {self.map(d)})",
            lambda: f"({self.list(d)} == {self.list(d)})",
            lambda: f"({self.map(d)} == {self.map(d)})",
            lambda: f"{self.string(d)}.{self.random.choice(('contains', 'startsWith', 'endsWith'))}({self.string(d)})",
            lambda: f"{self.string(d)}.matches({self.random.choice(('^a', '[0-9]+', 'b$', '.', '^$'))!r})",
            lambda: self.macro(self.random.choice(("all", "exists", "exists_one")), self.bool, d),
            lambda: f"({self.bool(d)} ? {self.bool(d)} : {self.bool(d)})",
            lambda: f"(type({self.any(d)}) == {self.random.choice(('int', 'string', 'bool', 'list', 'map', 'double', 'uint'))})",
            lambda: f"{self.optional(d)}.hasValue()",
            lambda: f"{self.random.choice(('isQuantity', 'isIP', 'isURL', 'isCIDR'))}({self.string(d)})",
            lambda: f"{self.list(d)}.isSorted()",
            lambda: f"has({self.map(d)}.a)",
            lambda: f"has(object.{self.random.choice(('a.b', 'labels.x', 'none.a', 'spec.none.a'))})",
            lambda: f"sets.{self.random.choice(('contains', 'equivalent', 'intersects'))}({self.list(d)}, {self.list(d)})",
            lambda: f"{self.decision(d)}.{self.random.choice(('allowed', 'errored'))}()",
            lambda: f"ip({self.address()}).{self.random.choice(('isLoopback', 'isUnspecified', 'isGlobalUnicast', 'isLinkLocalUnicast'))}()",
            lambda: f"cidr({self.range()}).containsIP({self.random.choice((self.address(), f'ip({self.address()})'))})",
            lambda: f"cidr({self.range()}).containsCIDR({self.random.choice((self.range(), f'cidr({self.range()})'))})",
            lambda: f"ip.isCanonical({self.address()})",
            lambda: f"({self.bytes(d)} {comparison} {self.bytes(d)})",
            lambda: f"{self.quantity(d)}.{self.random.choice(('isGreaterThan', 'isLessThan'))}({self.quantity(d)})",
            lambda: f"({self.quantity(d)} == {self.quantity(d)})",
            lambda: f"{self.semver(d)}.{self.random.choice(('isGreaterThan', 'isLessThan'))}({self.semver(d)})",
            lambda: f"isSemver({self.string(d)})",
            lambda: f"format.{self.random.choice(FORMATS)}().validate({self.formatted(d)}).hasValue()",
            lambda: f"{self.quantity(d)}.isInteger()",
            lambda: self.two_variables(self.random.choice(("all", "exists", "existsOne")), d),
        )

    def int(self, depth):
        if depth <= 0:
            return self.of("int") or self.random.choice((*INTS, "object.size", "object.spec.n"))
        d = depth - 1
        return self.pick(
            lambda: f"({self.int(d)} {self.random.choice('+-*/%')} {self.int(d)})",
            lambda: f"size({self.random.choice((self.string, self.list, self.map))(d)})",
            lambda: f"{self.string(d)}.indexOf({self.string(d)})",
            lambda: f"int({self.random.choice((self.string, self.double, self.uint, self.duration))(d)})",
            lambda: f"{self.list(d)}[{self.random.choice(('0', '1', '5'))}]",
            lambda: f"({self.bool(d)} ? {self.int(d)} : {self.int(d)})",
            lambda: f"{self.optional(d)}.orValue({self.int(d)})",
            lambda: f"{self.list(d)}.{self.random.choice(('sum', 'min', 'max'))}()",
            lambda: f"{self.timestamp(d)}.{self.random.choice(('getFullYear', 'getMonth', 'getDate', 'getDayOfWeek', 'getHours', 'getDayOfYear'))}()",
            lambda: f"{self.duration(d)}.{self.random.choice(('getHours', 'getSeconds', 'getMilliseconds'))}()",
            lambda: f"{self.map(d)}[{self.string(0)}]",
            lambda: f"object.numbers[{self.int(d)}]",
            lambda: f"({self.bool(d)} ? object.labels : {self.map(d)})[{self.string(0)}]",
            lambda: f"(false ? {self.map(d)} : object.labels).a",
            lambda: f"object.?labels[?{self.string(d)}].orValue({self.int(d)})",
            lambda: f"object.labels[({self.bool(d)} ? object.name : 'x')]",
            lambda: f"-({self.int(d)})",
            lambda: f"size({self.bytes(d)})",
            lambda: f"{self.quantity(d)}.asInteger()",
            lambda: f"sign({self.quantity(d)})",
            lambda: f"{self.quantity(d)}.compareTo({self.quantity(d)})",
            lambda: f"{self.semver(d)}.{self.random.choice(('major', 'minor', 'patch'))}()",
            lambda: f"ip({self.address()}).family()",
            lambda: f"cidr({self.range()}).prefixLength()",
            lambda: f"int({self.timestamp(d)})",
            lambda: f"{self.timestamp(d)}.getHours({self.random.choice(ZONES)})",
            lambda: f"size({self.list(d)}.transformList(i, v, i + v))",
            lambda: f"size({self.map(d)}.transformMap(k, v, k != '' && v > 0, v))",
        )

    def uint(self, depth):
        if depth <= 0:
            return self.random.choice(UINTS)
        return self.pick(lambda: f"({self.uint(depth - 1)} {self.random.choice('+-*/%')} {self.uint(depth - 1)})",
                         lambda: f"uint({self.int(depth - 1)})")

    def double(self, depth):
        if depth <= 0:
            return self.random.choice((*DOUBLES, "object.ratio"))
        d = depth - 1
        return self.pick(lambda: f"({self.double(d)} {self.random.choice('+-*/')} {self.double(d)})",
                         lambda: f"double({self.random.choice((self.int, self.string))(d)})",
                         lambda: f"{self.quantity(d)}.asApproximateFloat()")

    def string(self, depth):
        if depth <= 0:
            return self.of("string") or self.random.choice((*STRINGS, "object.name", "object.spec.s"))
        d = depth - 1
        return self.pick(
            lambda: f"({self.string(d)} + {self.string(d)})",
            lambda: f"string({self.random.choice((self.int, self.double, self.bool, self.uint, self.duration, self.timestamp))(d)})",
            lambda: f"{self.string(d)}.{self.random.choice(('lowerAscii', 'upperAscii', 'trim'))}()",
            lambda: f"{self.string(d)}.replace({self.string(d)}, {self.string(d)})",
            lambda: f"{self.string(d)}.substring({self.random.choice(('0', '1', '2'))})",
            lambda: f"{self.string(d)}.charAt({self.int(d)})",
            lambda: f"{self.string(d)}.split({self.string(d)}).join({self.string(d)})",
            lambda: f"{self.string(d)}.find({self.random.choice(('[a-z]+', '[0-9]', 'x*'))!r})",
            lambda: f"({self.bool(d)} ? {self.string(d)} : {self.string(d)})",
            lambda: f"'%s|%d'.format([dyn({self.string(d)}), {self.int(d)}])",
            lambda: self.format(d),
            lambda: f"{self.decision(d)}.{self.random.choice(('reason', 'error'))}()",
            lambda: f"url({self.random.choice(URLS)}).{self.random.choice(URL_PARTS)}()",
            lambda: f"url({self.random.choice(URLS)}).getQuery()['a'].join({self.string(d)})",
            lambda: f"string({self.random.choice((f'ip({self.address()})', f'cidr({self.range()}).masked()', self.bytes(d)))})",
            lambda: f"{self.string(d)}.findAll({self.random.choice(('[a-z]', '[0-9]+'))!r}, {self.int(d)}).join(',')",
            lambda: f"strings.quote({self.string(d)})",
            lambda: f"format.{self.random.choice(FORMATS)}().validate({self.formatted(d)}).value().join('; ')",
            lambda: f"format.named('{self.random.choice(FORMATS)}').value().validate({self.formatted(d)}).value().join('; ')",
        )

    def format(self, depth):
        clauses = [self.random.choice(("%s", "%d", "%f", "%.2f", "%e", "%b", "%x", "%X", "%o", "%%", "a"))
                   for _ in range(self.random.randrange(1, 4))]
        wanted = sum(len(clause) > 1 and clause != "%%" for clause in clauses) + (self.random.random() < 0.05)
        return f"'{''.join(clauses)}'.format([{', '.join(self.any(depth) for _ in range(wanted))}])"

    def list(self, depth):
        if depth <= 0:
            return self.random.choice(("[]", "[1, 2, 3]", "[3, 1]", "object.numbers"))
        d = depth - 1
        return self.pick(
            lambda: f"[{', '.join(self.int(d) for _ in range(self.random.randrange(4)))}]",
            lambda: f"({self.list(d)} + {self.list(d)})",
            lambda: self.macro("map", self.int, d),
            lambda: self.macro("filter", self.bool, d),
            lambda: f"[?{self.optional(d)}, {self.int(d)}]",
        )

    def map(self, depth):
        if depth <= 0:
            return self.random.choice(("{}", "{'a': 1, 'abc': 2}", "object.labels"))
        d = depth - 1
        return f"{{{', '.join(f'{self.string(0)}: {self.int(d)}' for _ in range(self.random.randrange(3)))}}}"

    def bytes(self, depth):
        if depth <= 0:
            return self.random.choice(("b'abc'", "b''", "b'\\xff'", "bytes(object.name)"))
        return self.pick(lambda: f"bytes({self.string(depth - 1)})", lambda: f"({self.bytes(depth - 1)} + {self.bytes(depth - 1)})")

    def quantity(self, depth):
        if depth <= 0:
            return f"quantity({self.random.choice(QUANTITIES)})"
        return self.pick(lambda: f"{self.quantity(depth - 1)}.{self.random.choice(('add', 'sub'))}({self.quantity(depth - 1)})",
                         lambda: f"{self.quantity(depth - 1)}.{self.random.choice(('add', 'sub'))}({self.random.choice(('1', '-7'))})")

    def semver(self, depth):
        return self.random.choice(("semver('1.2.3')", "semver('1.2.3-rc.1+b')", "semver('v1.0', true)", "semver('x')"))

    def address(self):
        return self.random.choice(ADDRESSES)

    def range(self):
        return self.random.choice(RANGES)

    def formatted(self, depth):
        """A text that one of the named formats may take."""
        return self.random.choice(FORMATTED) if self.random.random() < 0.8 else self.string(depth)

    def decision(self, depth):
        """What an authorizer says; each check costs a third of an evaluation's limit."""
        verb = self.random.choice(("'get'", "'list'", "'fail'", "object.name"))
        if self.random.random() < 0.3:
            return f"authorizer.path({self.random.choice(('/healthz', '', ' '))!r}).check({verb})"
        steps = "".join(self.random.choice((
            ".subresource('log')", f".namespace({self.string(0)})", f".name({self.string(0)})", ".fieldSelector('a=b')",
            f".labelSelector({self.string(depth)})", ".fieldSelector('a in (b, c), !d')")) for _ in range(self.random.randrange(3)))
        account = self.random.choice(("", "", ".serviceAccount('default', 'x')", ".serviceAccount('a.b', 'x')"))
        return f"authorizer{account}.group('').resource({self.random.choice(('pods', 'pods', ''))!r}){steps}.check({verb})"

    def two_variables(self, name, depth):
        """A macro over a list with its indices, or over a map with its keys."""
        self.variables += [("k", "int"), ("v", "int")]
        made = f"{self.list(depth)}.{name}(k, v, {self.bool(depth)})"
        self.variables = self.variables[:-2]
        return made

    def duration(self, depth):
        if depth <= 0:
            return self.random.choice(("duration('1h')", "duration('-1.5s')", "duration('0')"))
        return f"({self.duration(depth - 1)} {self.random.choice('+-')} {self.duration(depth - 1)})"

    def timestamp(self, depth):
        if depth <= 0:
            return self.random.choice(("timestamp('2026-01-31T23:59:59.5Z')", "timestamp(0)", "timestamp('9999-12-31T23:59:59Z')"))
        return f"({self.timestamp(depth - 1)} {self.random.choice('+-')} {self.duration(depth - 1)})"

    def optional(self, depth):
        if depth <= 0:
            return self.random.choice(("optional.of(1)", "optional.of(5)", "[1, 2][?0]", "[1][?9]", "{'a': 3}[?'a']"))
        d = depth - 1
        return self.pick(lambda: f"optional.of({self.int(d)})", lambda: f"{self.list(d)}[?{self.int(d)}]",
                         lambda: f"{self.map(d)}[?{self.string(0)}]",
                         lambda: f"{self.optional(d)}.or({self.optional(d)})")

    def macro(self, name, body, depth):
        variable = f"v{len(self.variables)}"
        of = self.list(depth)
        self.variables.append((variable, "int"))
        made = f"{of}.{name}({variable}, {body(depth)})"
        self.variables.pop()
        return made


def document(rng):
    """An object that has most of what the expressions look for, of the types that they want or of others."""
    whole = {
        "a": rng.choice((1, -3, 0, 9007199254740993)),
        "name": rng.choice(("abc", "", "5", "\u00e9x", "10.0.0.1", "1Gi", "2026-01-01T00:00:00Z", "a:b")),
        "size": rng.choice((3, 0, -1, 2.5)),
        "ratio": rng.choice((0.5, -0.0, 1e20, 2)),
        "numbers": rng.choice(([3, 1, 2], [], [1], [1, 2.5], [2, 2], ["a", "b"], [None, True])),
        "labels": rng.choice(({"a": 1, "x": 5}, {}, {"abc": 2, "": 0}, {"a": "1"})),
        "spec": rng.choice(({"n": 4, "s": "x y", "none": None}, {"n": -7, "s": ""}, {"s": 1}, None)),
    }
    return {key: value for key, value in whole.items() if rng.random() < 0.95}


def questions(seed, count):
    """Pairs of an expression and an object."""
    generator = Generator(seed)
    for _ in range(count):
        yield generator.any(generator.random.randrange(1, 5)), document(generator.random)
