"""From a recipe to a plan in which every name is resolved, and what is wrong with it."""
