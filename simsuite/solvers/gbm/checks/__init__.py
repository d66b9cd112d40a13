"""What is refused or warned of before a run, and what helps."""
