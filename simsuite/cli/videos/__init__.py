"""The command that makes videos."""
