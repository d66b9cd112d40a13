"""What a run does beside its steps: it watches numbers, ends early, or goes on to a later end."""
