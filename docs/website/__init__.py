"""The documentation as a site: its sources are the pages of docs as they stand, and pages made from the program.

make site                                 # into build/site; or:
PYTHONPATH=docs python -m website build/pages
python -m sphinx -W --keep-going -n -c docs build/pages build/site
"""
