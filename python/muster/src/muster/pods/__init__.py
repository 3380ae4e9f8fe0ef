"""What pods with our agent have first on PYTHONPATH beside this package (muster-in-pods copy)."""
