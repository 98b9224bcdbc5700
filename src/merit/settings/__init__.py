"""`merit.toml`, read and checked."""

from merit.settings.checks import CheckSettings
from merit.settings.read import FILE_NAME, check_model, read_settings
from merit.settings.settings import (
    DEFAULT_PRIVATE,
    AskingSettings,
    BudgetSettings,
    ContextSettings,
    DatabaseSettings,
    MemorySettings,
    ModelSettings,
    ServeSettings,
    Settings,
    matches,
)

__all__ = [
    "DEFAULT_PRIVATE",
    "FILE_NAME",
    "AskingSettings",
    "BudgetSettings",
    "CheckSettings",
    "ContextSettings",
    "DatabaseSettings",
    "MemorySettings",
    "ModelSettings",
    "ServeSettings",
    "Settings",
    "check_model",
    "matches",
    "read_settings",
]
