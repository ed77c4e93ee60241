"""Prints how large a page with 500 molecules is, how long writing it takes, and how soon a browser can use it.

    python tools/page_cost.py [--molecules 500] [--out page.html]

The molecules are the built-in ones, with SMILES, explained by occlusion; the network is random, since size and time
hardly depend on what it has learned. Time to usable: from the start of navigation until the table and the first drawing
are on the screen, the median of five fresh tabs.
"""

import argparse
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import torch
from page_browser import open_browser
from torch_geometric.data import Batch

import rcexplainer as rc
from rcexplainer.datasets.molecules import to_rdkit
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.testing.sample_networks import centre

TABS = 5
PAINTED = "requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)))"  # the next frame
USABLE = f"new Promise((done) => {{ const start = 0; {PAINTED}; }})"
NEXT = (
    "new Promise((done) => { const start = performance.now(); "
    f"document.querySelectorAll('#table-body tr')[1].click(); {PAINTED}; }})"
)


def explain_molecules(number: int) -> tuple[FittedExplainer, list[rc.Explanation | rc.Failure]]:
    """Explain this many molecules."""
    from rdkit.Chem import MolToSmiles

    data = rc.datasets.load("nitro", num_graphs=number)
    graphs = [graph.clone() for graph in data.graphs]
    for place, graph in enumerate(graphs):
        graph.id, graph.smiles = f"molecule {place}", MolToSmiles(to_rdkit(graph), canonical=False)
    torch.manual_seed(0)
    model = rc.gnn.GNN(rc.gnn.gnn_config("paper", data.num_features, data.num_classes)).eval()
    batch = Batch.from_data_list(graphs)
    centre(model.head, model(batch.x, batch.edge_index, batch.batch))  # so that both classes are predicted
    fitted = rc.baselines.Occlusion().fit(model, graphs, class_names=data.class_names)
    return fitted, list(fitted.explain(graphs))


def opening_times(page: Path) -> tuple[float, float]:
    """Milliseconds until a page is usable, and until a clicked row is drawn; medians."""
    usable, clicked = [], []
    with open_browser() as browser:
        for _ in range(TABS):
            tab = browser.new_page(viewport={"width": 1280, "height": 900})
            tab.goto(page.as_uri())
            tab.wait_for_selector("#table-body tr")
            tab.wait_for_selector("#cards .edge", state="attached")
            usable.append(tab.evaluate(USABLE))
            clicked.append(tab.evaluate(NEXT))
            tab.close()
    return median(usable), median(clicked)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--molecules", type=int, default=500)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    fitted, found = explain_molecules(given.molecules)
    bonds = sum(len(one.units) for one in found if isinstance(one, rc.Explanation)) / len(found)
    with TemporaryDirectory() as folder:
        start = time.perf_counter()
        page = rc.viz.page(found, given.out or Path(folder) / "page.html", fitted)
        seconds = time.perf_counter() - start
        usable, clicked = opening_times(page.resolve())
        size = page.stat().st_size / 1e6
    print(f"{len(found)} molecules with {bonds:.1f} bonds on average: {size:.2f} MB, written in {seconds:.1f} s")
    print(f"usable after {usable:.0f} ms, another molecule is shown {clicked:.0f} ms after a click")
