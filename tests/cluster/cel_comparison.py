"""Our answers to expressions at random beside those of cel-go, as kube-apiserver has it.

cel_comparison.py CEL_LINES [--count N] [--seed N]: the program of src/cel, and how many expressions (100,000).
"""

import argparse
import collections
import json
import subprocess

import cel_expressions
import programs


def answers(program, expressions):
    """Of one process, in the order of the expressions."""
    lines = "".join(json.dumps({"expression": each, "object": cel_expressions.OBJECT}) + "\n" for each in expressions)
    done = subprocess.run([str(program)], input=lines, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def kind(answer):
    return next(word for word in ("panic", "refused", "error", "value") if word in answer)


def difference(expression, ours, theirs):
    """What differs: "kind", "value", "cost" or "estimate"; None if nothing does. The texts of errors may: cel-go evaluates both
    sides of some operators, and tells of either."""
    if kind(theirs) == "panic":
        return None
    # What is in an empty list or map has, for cel-go, the type that the first function of a name wants: double.
    if ("[]" in expression or "{}" in expression) and (
            theirs.get("error", "").startswith("no such overload") or theirs.get("value") == f"{ours.get('value')}.0"):
        return None
    if kind(ours) != kind(theirs):
        return "kind"
    if kind(ours) == "refused":
        return None
    if ours.get("value") != theirs.get("value"):
        return "value"
    if ours.get("most", 0) != theirs.get("most", 0):
        return "estimate"
    return "cost" if ours.get("cost", 0) != theirs.get("cost", 0) else None


def differences(ours, theirs, seed, count):
    """(what, expression, our answer, theirs) of each expression whose answers differ."""
    expressions = list(cel_expressions.expressions(seed, count))
    pairs = zip(expressions, answers(ours, expressions), answers(theirs, expressions), strict=True)
    return [(what, *pair) for pair in pairs if (what := difference(*pair))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cel_lines")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args()
    found = differences(options.cel_lines, programs.build("cel-go"), options.seed, options.count)
    for what, expression, mine, other in sorted(found, key=lambda each: len(each[1]))[:20]:
        print(f"{what}: {expression}\n    ours:   {json.dumps(mine)}\n    cel-go: {json.dumps(other)}")
    print(f"{options.count} expressions (seed {options.seed}): {dict(collections.Counter(each[0] for each in found)) or 'no difference'}")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
