"""Every row of operators.py reads each of its parameters, or says what becomes of an argument that
it does not read: run as rows_test.py OPERATORS.PY."""
import ast
import sys

SAID = {"Fixed", "Free", "Floating"}


def unread(function):
    """Parameters of a row that nothing in it reads, and that have no rule."""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    read = {each.id for each in ast.walk(function) if isinstance(each, ast.Name)}
    for each in filter(None, every):
        rule = each.annotation.id if isinstance(each.annotation, ast.Name) else None
        if each.arg not in read and rule not in SAID and each.arg != "k":
            yield f"{function.name}() in line {function.lineno}: {each.arg}"


def rows_in(tree):
    for each in ast.walk(tree):
        if isinstance(each, ast.FunctionDef) and each.args.args and each.args.args[0].arg == "k":
            yield each


def main():
    sample = "def f(k, x, eps, *_, p: Fixed = 2, **__):\n    return x\n"
    found = [list(unread(each)) for each in rows_in(ast.parse(sample))]
    names = ["eps", "_", "__"]
    assert found == [[f"f() in line 1: {each}" for each in names]], found
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = list(rows_in(ast.parse(file.read())))
    assert len(rows) > 100, len(rows)
    left = [each for row in rows for each in unread(row)]
    assert not left, "read by no row, and without a rule:\n" + "\n".join(left)


main()
