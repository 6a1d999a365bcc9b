"""What can be known to be wrong with a plan before anything runs, one file for each subject."""
