"""What holds for a project: policy, canaries, inventory and oracle, and where its index lives."""

from analysis.config.inventory import listed_ids, read_inventory
from analysis.config.load import (
    FILE_NAME,
    Canaries,
    Canary,
    Config,
    Oracle,
    Policy,
    configured_in,
    differences,
    index_path,
    load_config,
    override,
)

__all__ = [
    "FILE_NAME",
    "Canaries",
    "Canary",
    "Config",
    "Oracle",
    "Policy",
    "configured_in",
    "differences",
    "index_path",
    "listed_ids",
    "load_config",
    "override",
    "read_inventory",
]
