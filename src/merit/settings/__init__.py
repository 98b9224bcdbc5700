"""`merit.toml`, read and checked.

`read` turns the file into `Settings`. It holds no secret: the URL of a database that needs a password comes from an
environment variable. `DatabaseSettings.is_private` says which columns' values are never read.
"""

from merit.settings.checks import CheckSettings
from merit.settings.read import FILE_NAME, check_model, checked_scope, read_settings
from merit.settings.settings import (
    DEFAULT_PRIVATE,
    SCOPES,
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
    "SCOPES",
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
    "checked_scope",
    "matches",
    "read_settings",
]
