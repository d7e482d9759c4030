"""Links of the built documentation to its own pages, pictures and sections; no network is needed.

    python .ci/links.py doc/_build/html

Prints each link that leads nowhere, and each picture, style or script that a page would load from
the network, and ends with an error if there is one. Pictures of the gallery are not expected if
none was drawn, as in a quick build.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Pictures that the scripts of the gallery draw.
DRAWN = "sphx_glr_plot_"
ATTRIBUTES = {"a": "href", "img": "src", "link": "href", "script": "src", "iframe": "src"}
# Relations of links that a browser follows by itself.
LOADED = {"icon", "stylesheet", "preload", "modulepreload"}


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        link = found.get(ATTRIBUTES.get(tag))
        if link:
            self.links.append(link)
            is_loaded = tag != "a" and (
                tag != "link" or LOADED & {*(found.get("rel") or "").split()}
            )
            if is_loaded and urlsplit(link).netloc:
                self.loaded.append(link)


def broken_links(folder):
    """Page and link of each link that leads nowhere or is loaded from the network."""
    # Templates of the theme are not pages.
    paths = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]
    pages = {path.resolve(): Page(path) for path in paths}
    has_gallery = any(folder.rglob(f"{DRAWN}*_001.png"))
    for path, page in pages.items():
        for link in dict.fromkeys(page.loaded):
            yield path.relative_to(folder.resolve()), link
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            anchor = unquote(parts.fragment)
            if target.name.startswith(DRAWN) and not has_gallery:
                continue
            is_known = target not in pages or not anchor or anchor in pages[target].anchors
            if not target.exists() or not is_known:
                yield path.relative_to(folder.resolve()), link


def main():
    folder = Path(sys.argv[1])
    if not any(folder.rglob("*.html")):
        sys.exit(f"{folder} holds no page.")
    found = list(broken_links(folder))
    for page, link in found:
        print(f"{page}: {link}")
    sys.exit(f"{len(found)} links lead nowhere or to the network." if found else 0)


if __name__ == "__main__":
    main()
