"""The tables of results/votes from scores.json.gz: python results/votes/table.py > results/votes/tables/votes.md."""

from functools import cache

from counting import NAMES, ORDERS, RECORDED, Mixture, difference, in_turn, percent, right, scores

# The wordings of the recordings and those of Spider train that are nearest to them: the paper's; CREATE TABLE text with
# example values; the same and the values that the question mentions.
NEAREST = {"p0": "P", "p1": "E", "p2": "A"}


def mixtures() -> dict[str, Mixture]:
    """Eight answers in each of nine ways, fixed before any was counted."""
    found = {}
    for first in NEAREST:
        others = tuple(wording for wording in NEAREST if wording != first)
        found[f"{first} alone"] = in_turn(first, (first,))
        found[f"{first}, then the other two in turn"] = in_turn(first, others)
        found[f"{first}, then all three in turn"] = in_turn(first, (*others, first))
    return found


def on_train(mixture: Mixture) -> Mixture:
    """The mixture of the nearest wordings."""
    return tuple(NEAREST[wording] for wording in mixture)


@cache
def chosen() -> str:
    """The mixture that is best on train, where its nearest wordings were drawn."""
    found = mixtures()
    return max(found, key=lambda name: right("train", on_train(found[name]), grounds=True, orders=ORDERS).mean())


def row(*cells: object) -> None:
    """Print a row of a table."""
    print("| " + " | ".join(map(str, cells)) + " |")


def head(*cells: str) -> None:
    """Print the head of a table: a column of names, then numbers."""
    row(*cells)
    row("---", *["---:"] * (len(cells) - 1))


def never_worse() -> None:
    """What grounding changed, of all answers."""
    head("", "answers", "changed", "right before the change", "right after it", "wrong after it")
    for name, title in NAMES.items():
        outcomes = [
            outcome for wordings in scores()[name].values() for answers in wordings.values() for outcome in answers
        ]
        changed = [outcome for outcome in outcomes if outcome[2]]
        after = sum(outcome[1] for outcome in changed)
        row(title, len(outcomes), len(changed), sum(outcome[3] for outcome in changed), after, len(changed) - after)


def rule_of_train() -> None:
    """What the mixture chosen on train gives."""
    name = chosen()
    mixture = mixtures()[name]
    head(f"{name}", "plain votes", "grounded votes", "difference, recorded order")
    for benchmark in ("dev", "bird", "bundled"):
        plain, grounded = (right(benchmark, mixture, grounds=grounds, orders=ORDERS) for grounds in (False, True))
        once = [right(benchmark, mixture, grounds=grounds, orders=RECORDED) for grounds in (True, False)]
        row(NAMES[benchmark], percent(plain), percent(grounded), difference(once[0], once[1]))


def everything() -> None:
    """All mixtures on all sets."""
    best = chosen()
    columns = ["train", "dev", "bird", "bundled"]
    head("", *(f"{NAMES[name]}: {kind}" for name in columns for kind in ("plain", "grounded")))
    for name, mixture in mixtures().items():
        cells = []
        for benchmark in columns:
            used = on_train(mixture) if benchmark == "train" else mixture
            cells += [percent(right(benchmark, used, grounds=grounds, orders=ORDERS)) for grounds in (False, True)]
        row(f"**{name}**" if name == best else name, *cells)


def paired() -> None:
    """Grounded votes against plain ones over the same answers, in the recorded order."""
    head("", *(NAMES[name] for name in ("dev", "bird", "bundled")))
    for name, mixture in mixtures().items():
        pairs = [
            [right(benchmark, mixture, grounds=grounds, orders=RECORDED) for grounds in (True, False)]
            for benchmark in ("dev", "bird", "bundled")
        ]
        row(name, *(difference(after, before) for after, before in pairs))


def main() -> None:
    """Print all tables."""
    for table in (never_worse, rule_of_train, everything, paired):
        table()
        print()


if __name__ == "__main__":
    main()
