"""Newton's method on the multipliers for the nearest matrix under rows."""
