"""What pages load and others have written: which version, under which licence."""

import re

from plotly.offline import get_plotlyjs_version

from dashboards.templating import asset, environment

VENDOR = "vendor/plotly-cartesian-4.1.1"


def test_what_draws_is_the_version_that_figures_are_made_for() -> None:
    """The Python package describes figures for one version of its script."""
    assert f"vendor/plotly-cartesian-{get_plotlyjs_version()}" == VENDOR


def test_the_bundle_of_plotly_is_the_version_that_its_name_says_with_its_licence() -> None:
    """As its own first line says; and the page loads that one."""
    body, media_type = asset(f"{VENDOR}.min.js")
    first = body[:300].decode()
    licence = asset(f"{VENDOR}.LICENSE")[0].decode()
    loader = environment().loader
    assert loader is not None
    page = loader.get_source(environment(), "page.html")[0]

    assert media_type.startswith("text/javascript")
    assert "plotly.js (cartesian - minified) v4.1.1" in first
    assert "MIT License" in licence
    assert "Copyright" in licence
    assert re.findall(r"static\('(vendor/\S+?)\.min\.js'\)", page) == [VENDOR]
