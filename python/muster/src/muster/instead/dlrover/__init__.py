"""What programs with parameter servers import of DLRover (0.6), where its package is not installed: it asks Muster's master."""
