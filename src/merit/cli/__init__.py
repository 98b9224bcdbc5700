"""The command line: parses, shows, nothing else."""

try:
    from merit.cli.main import main
except KeyboardInterrupt:  # importing everything takes a moment
    raise SystemExit(130) from None

__all__ = ["main"]
