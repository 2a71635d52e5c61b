"""Lathe behind the interfaces of others; each module is imported by whoever uses that library."""
