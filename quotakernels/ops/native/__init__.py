"""Native forms of the operations, one module per array library."""
