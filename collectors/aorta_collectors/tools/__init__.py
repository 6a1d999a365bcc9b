"""How tools answer: sudo's refusals, JSON between noise."""
