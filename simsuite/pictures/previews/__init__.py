"""Pictures of what a scenario says, before it is run."""
