"""Recipes: the file that says what a sweep runs."""
