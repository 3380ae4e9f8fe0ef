"""Packages of others under their own names, for programs in images where they are not installed: this folder is last in the path."""
