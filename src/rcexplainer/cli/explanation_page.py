"""`rcexplainer explain --html`: the explanations of a report as a page to share."""

from pathlib import Path

from rcexplainer.cli.explanation_report import ExplanationReport
from rcexplainer.saving.documents import writable_file
from rcexplainer.viz.page.page_file import checked_page_path, page


def writable_page(path: Path, option: str = "--html") -> Path:
    """Check that a page can be written, before the graphs are explained.

    Args:
        path: The file.
        option: The command-line option that named it, for the error message.

    Returns:
        The path.

    Raises:
        RCExplainerError: It does not end in .html, is a folder, or cannot be written.
    """
    return writable_file(path if path.is_dir() else checked_page_path(path), option)


def write_page(report: ExplanationReport, path: Path) -> Path:
    """Write a page with the model's real predictions after deletions.

    Args:
        report: The explanations.
        path: The file.

    Returns:
        The path.
    """
    return page(
        [one.result for one in report.explained],
        path,
        report.fitted,
        title=f"{report.data.name}{f', {report.part}' if report.part else ''}: explanations",
        names=[
            str(one.index) if isinstance(one.index, int) else "–".join(map(str, one.index)) for one in report.explained
        ],
        node_names=report.data.node_names,
        edge_names=report.data.edge_names,
    )
