"""The benchmarks of this version on the sources of any other one, so that both are measured by the same code.

    python tools/speed_of.py OLD/src explain --keep build/bench --out build/speed/old
    python tools/speed_of.py src     explain --keep build/bench --out build/speed/new

The first argument is the folder that holds the package `rcexplainer`; the others are those of
`python -m rcexplainer.benchmark.speed`. Give both the same `--keep`: they then measure the same network and explainer.
"""

import runpy
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

NAME = "rcexplainer.benchmark.speed"
OWN = Path(__file__).parents[1] / "src" / "rcexplainer" / "benchmark" / "speed"


def main() -> None:
    sources = Path(sys.argv.pop(1)).resolve()
    sys.path.insert(0, str(sources))
    import rcexplainer.benchmark

    assert Path(rcexplainer.__file__).is_relative_to(sources), f"{rcexplainer.__file__} is not in {sources}"
    spec = spec_from_file_location(NAME, OWN / "__init__.py", submodule_search_locations=[str(OWN)])
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[NAME] = rcexplainer.benchmark.speed = module
    spec.loader.exec_module(module)
    runpy.run_module(f"{NAME}.__main__", run_name="__main__")


if __name__ == "__main__":
    main()
