"""Published files: found on disk, or else downloaded once and checked."""
