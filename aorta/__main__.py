"""``python -m aorta``, and so ``torchrun -m aorta``."""

try:
    from aorta.cli import main
except KeyboardInterrupt:
    raise SystemExit(130) from None

if __name__ == "__main__":
    main()
