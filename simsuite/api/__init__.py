"""What `import simsuite` offers: run a scenario from Python, step one by hand, or sweep over its keys."""
