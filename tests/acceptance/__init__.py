"""The product as a user meets it: cases from public bug reports, a log in and the answer out."""
