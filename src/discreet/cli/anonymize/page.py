"""The outcome as a page of HTML."""

from __future__ import annotations

from html import escape

from discreet.cli.anonymize.outcome import Outcome
from discreet.cli.anonymize.report import facts, figures, of_rows, shown, still_at_risk, warning
from discreet.cli.show import pages


def page(outcome: Outcome, name: str) -> str:
    """The outcome as HTML.

    Args:
        outcome: with all figures.
        name: what the original is called.
    """
    from discreet.anonymity.repeated import rows_counted, say_whose

    release = outcome.release
    promised = ", ".join(str(model) for model in release.models) + of_rows(outcome)
    released = f"{release.rows - release.suppressed:,} of {release.rows:,} rows are released, with {promised}."
    key = [f"{rows_counted(release.repeated)} {say_whose(release.repeated)}"] if release.repeated else []
    beware = [f'<p class="note">{escape(warning(outcome.formulas).capitalize())}.</p>'] if outcome.formulas else []
    done = [(label or "search", text) for label, text in facts(outcome).items()]
    return pages.page(
        f"What became of {name}",
        [
            *(f'<p class="key">{escape(each)}</p>' for each in [*(key or [still_at_risk(outcome)]), released]),
            *pages.section(
                "What attackers can do",
                pages.table(
                    ("an attacker who knows the columns that become coarser", "before", "after"),
                    [(each.what, *figures(each)) for each in outcome.threats],
                    numbers=2,
                ),
                f"<p>{escape(release.caveat)}</p>",
                pages.REMEDY,
            ),
            *_drawn(outcome),
            *pages.section(
                "How columns are shown",
                pages.table(("column", "how"), [(each.name, shown(each)) for each in outcome.shown], numbers=0),
            ),
            *pages.section("What was done", pages.table(("what", "how"), done, numbers=0), *beware),
        ],
    )


def _drawn(outcome: Outcome) -> list[str]:
    """The class sizes of the release."""
    risks = outcome.release.risks
    if risks is None or not len(risks.sizes.sizes):
        return []
    from discreet import plot
    from discreet.anonymity.words import Noun

    counts = dict(zip(risks.sizes.sizes.tolist(), risks.sizes.units.tolist(), strict=True))
    columns, noun = outcome.release.quasi_identifiers, Noun.of(outcome.release.unit).many
    return pages.figures([lambda: plot.class_sizes(counts, columns=columns, noun=noun)])
