"""``python -m aorta``, and so ``torchrun -m aorta``."""

from aorta.cli import main

if __name__ == "__main__":
    main()
