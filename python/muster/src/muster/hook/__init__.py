"""The folder that a launcher puts at the front of PYTHONPATH: docs/design/warm.md says why. Its files are self-contained."""
