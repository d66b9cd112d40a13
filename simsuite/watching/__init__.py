"""What is looked after while a run goes on: its rate, whether it is over, what is wrong in its rows."""
