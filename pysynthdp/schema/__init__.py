"""Public facts about a table: declared from public documents, or inferred and marked so; bounds never are."""

from pysynthdp.schema.columns import CategoricalColumn, Column, NumericColumn
from pysynthdp.schema.labels import Kind, Labels
from pysynthdp.schema.survey_design import Design
from pysynthdp.schema.table import Schema

__all__ = ["CategoricalColumn", "Column", "Design", "Kind", "Labels", "NumericColumn", "Schema"]
