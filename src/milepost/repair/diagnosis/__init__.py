"""What failed and why: classes of failures from evidence."""
